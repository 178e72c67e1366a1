"""Each reader on a small trace of its format that was computed by hand."""

import gzip
import os

import numpy as np
import pytest
from trace_texts import AZURE_2023, AZURE_2024, BURSTGPT, BURSTGPT_SESSIONS, MOONCAKE, PLAIN, PLAIN_OPTIONS

import sweep
from sweep.errors import InputFault, UsageFault
from sweep.traffic.csv_rows import _Reader

S = 10**9
NOV_16 = 1_700_092_800 * S
"""2023-11-16 00:00 in ns from 1970."""

MAY_10 = 1_715_299_200 * S
"""2024-05-10 00:00 in ns from 1970."""

CLOCK_03 = NOV_16 + (18 * 3600 + 17 * 60 + 3) * S + 979_960_000


def rows_of(path, **options):
    """(ns, prompt, output) of every row."""
    blocks = list(sweep.read_trace(path, **options))
    return [
        row
        for b in blocks
        for row in zip(b.time_ns.tolist(), b.prompt_tokens.tolist(), b.output_tokens.tolist(), strict=True)
    ]


@pytest.fixture
def trace(tmp_path):
    def write(text, name="trace"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


CASES = {
    "azure 2023": (
        AZURE_2023,
        {},
        [
            (CLOCK_03, 400, 10),
            (CLOCK_03 + 52_000_000, 300, 20),
            (CLOCK_03 + S - 100, 200, 30),
            (CLOCK_03 + S, 100, 40),
            (CLOCK_03 + 10 * S, 50, 0),
            (CLOCK_03 + 60 * S, 10, 5),
        ],
    ),
    "azure 2024": (
        AZURE_2024,
        {},
        [(MAY_10 + 9_930_000, 2162, 5), (MAY_10 + S, 2399, 6), (MAY_10 + 2 * S + S // 2, 76, 15)],
    ),
    "burstgpt": (BURSTGPT, {}, [(5 * S, 472, 18), (45 * S, 1087, 0), (118 * S, 417, 276)]),
    "burstgpt with sessions": (BURSTGPT_SESSIONS, {}, [(5 * S + S // 4, 472, 18), (45 * S, 1087, 12)]),
    "mooncake": (
        MOONCAKE,
        {},
        [
            (ms * 10**6, p, o)
            for ms, p, o in (
                (0, 1000, 5),
                (500, 1100, 6),
                (999, 1000, 7),
                (1000, 1500, 8),
                (3000, 700, 0),
                (9000, 513, 9),
            )
        ],
    ),
    "plain csv": (PLAIN, PLAIN_OPTIONS, [(0, 20, 3), (1500 * 10**6, 5, 0), (2_500_500_000, 7, 1), (S, 9, 2)]),
}


@pytest.mark.parametrize("case", CASES)
def test_a_reader_reads_its_format(trace, case):
    text, options, rows = CASES[case]
    assert rows_of(trace(text), **options) == rows


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("change", ["gzip", "CRLF", "byte order mark", "no last line break", "blank lines", "bytes"])
def test_what_people_do_to_files_changes_nothing(trace, monkeypatch, case, change):
    text, options, rows = CASES[case]
    data = text.encode()
    if change == "bytes":  # blocks begin and end anywhere
        monkeypatch.setattr("sweep.traffic.source.PIECE_BYTES", 7)
    changed = {
        "gzip": gzip.compress(data[:60]) + gzip.compress(data[60:]),
        "CRLF": data.replace(b"\n", b"\r\n"),
        "byte order mark": b"\xef\xbb\xbf" + data,
        "no last line break": data.rstrip(b"\n"),
        "blank lines": b"\n \n" + data.replace(b"\n", b"\n\n") + b"\n\n",
        "bytes": data,
    }[change]
    assert rows_of(trace(changed), **options) == rows


@pytest.mark.parametrize(("unit", "ns"), [("s", S), ("ms", 10**6), ("us", 10**3), ("ns", 1)])
def test_the_unit_is_the_stated_one(trace, unit, ns):
    path = trace("t,p,o\n3,1,1\n")
    assert rows_of(path, columns={"time": "t", "prompt": "p", "output": "o"}, unit=unit) == [(3 * ns, 1, 1)]


def test_dates_in_any_csv(trace):
    path = trace("o,when,p\n7,2023-11-16T18:17:03.97996Z,5\n")
    options = {"columns": {"time": "when", "prompt": "p", "output": "o"}, "unit": "clock"}
    assert rows_of(path, **options) == [(CLOCK_03, 5, 7)]


def test_times_finer_than_a_nanosecond_are_cut_and_counted(trace):
    path = trace("t,p,o\n0.1234567891,1,1\n0.123456789000,1,1\n1e-10,1,1\n0.30000000000000004,1,1\n")
    options = {"columns": {"time": "t", "prompt": "p", "output": "o"}, "unit": "s"}
    assert [row[0] for row in rows_of(path, **options)] == [123_456_789, 123_456_789, 0, 300_000_000]
    assert sum(block.times_cut for block in sweep.read_trace(path, **options)) == 3


def test_hashes_of_any_64_bits(trace):
    top = 2**64 - 1
    path = trace(f'{{"timestamp": 1.5, "input_length": 600, "output_length": 1, "hash_ids": [{top}, 5]}}\n')
    (block,) = sweep.read_trace(path)
    assert block.time_ns.tolist() == [1_500_000]
    assert block.hash_ids.astype(np.uint64).tolist() == [top, 5]
    assert block.hash_counts.tolist() == [2]


def test_a_mooncake_trace_without_hashes(trace):
    (block,) = sweep.read_trace(trace('{"timestamp": 0, "input_length": 600, "output_length": 1}\n'))
    assert block.hash_ids is None


def test_the_first_line_may_be_overridden(trace):
    """An Azure header, read as any CSV with the columns the other way round."""
    columns = {"time": "TIMESTAMP", "prompt": "GeneratedTokens", "output": "ContextTokens"}
    assert rows_of(trace(AZURE_2024), columns=columns, unit="clock")[0] == (MAY_10 + 9_930_000, 5, 2162)


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (PLAIN, {"columns": PLAIN_OPTIONS["columns"]}, "add --unit"),
        (PLAIN, {"format": "csv", "unit": "s"}, "add --columns"),
        (PLAIN, {"columns": {"time": "sent"}, "unit": "s"}, "prompt is missing"),
        (PLAIN, {"columns": {**PLAIN_OPTIONS["columns"], "day": "id"}, "unit": "s"}, "day is unknown"),
        (PLAIN, {**PLAIN_OPTIONS, "unit": "min"}, "wanted one of s, ms, us, ns, clock"),
        (PLAIN, {**PLAIN_OPTIONS, "format": "azure"}, "has its own columns"),
        (BURSTGPT, {"unit": "ms"}, "the times of burstgpt are in s"),
        (AZURE_2023, {"unit": "s"}, "the times of azure are dates"),
        (AZURE_2023, {"format": "parquet"}, "wanted one of azure, burstgpt, mooncake, csv"),
    ],
)
def test_options_that_make_no_sense(trace, text, options, message):
    with pytest.raises(UsageFault, match=message):
        list(sweep.read_trace(trace(text), **options))


def test_a_unit_that_the_format_has_anyway(trace):
    assert len(rows_of(trace(BURSTGPT), unit="s")) == 3


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes on this system")
def test_a_named_pipe_is_refused_and_does_not_hang(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputFault, match="is a folder, a device or a pipe"):
        list(sweep.read_trace(tmp_path / "pipe"))


def test_odd_rows_are_found_by_halving_and_the_others_read_as_columns(trace, monkeypatch):
    """Of 9 000 rows three are odd; some hundred rows around them are read one by one, and all come in order."""
    rows = [(at * S, at % 700, 1 + at % 90) for at in range(9_000)]
    lines = [f"{at // S},{prompt},{output},note\n" for at, prompt, output in rows]
    lines[17] = lines[17].replace("note", '"a note, with a comma\nand a second line"')
    lines[5_000] = lines[5_000].replace("5000", "5e3")
    lines[8_998] = lines[8_998].replace("note", '"say ""what"""')
    one_by_one = []
    slow = _Reader.row_by_row
    monkeypatch.setattr(_Reader, "row_by_row", lambda self, chunk: one_by_one.append(chunk) or slow(self, chunk))
    path = trace("t,p,o,n\n" + "".join(lines))
    assert rows_of(path, columns={"time": "t", "prompt": "p", "output": "o"}, unit="s") == rows
    assert sum(chunk.data.count(b"\n") for chunk in one_by_one) < 600


def test_spaces_around_fields_are_none_of_them(trace):
    path = trace(AZURE_2023.replace(",", " , ").replace("\n", "  \n"))
    assert rows_of(path) == CASES["azure 2023"][2]
