"""A stranger's trace is a few printable sentences with lines, within a moment and without memory; never a traceback."""

import gzip
import json
import os
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from trace_texts import AZURE_2023, AZURE_2024, BURSTGPT, MOONCAKE, MOONCAKE_ROWS, PLAIN, PLAIN_OPTIONS

import sweep
from sweep.errors import InputFault, SweepError

READERS = {
    "azure": (AZURE_2024, {"format": "azure"}),
    "burstgpt": (BURSTGPT, {"format": "burstgpt"}),
    "mooncake": (MOONCAKE, {"format": "mooncake"}),
    "csv": (PLAIN, PLAIN_OPTIONS),
}
AZURE_HEAD = AZURE_2023[: AZURE_2023.index("\n") + 1]
AZURE_ROW = AZURE_2023.splitlines(keepends=True)[1]


def faults_of(folder, data, **options):
    """The faults of a trace, each fit for a terminal; a test fails where it has none."""
    path = folder / "trace"
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    with pytest.raises(InputFault) as caught:
        sweep.trace_facts(path, **options)
    faults = caught.value.faults
    assert caught.value.exit_code == 3
    assert 1 <= len(faults) <= 11
    assert all(fault.isprintable() and len(fault) < 600 and fault.endswith(".") for fault in faults)
    return [fault.removeprefix(f"{path}: ") for fault in faults]


@pytest.mark.parametrize("reader", READERS)
def test_every_reader_on_an_empty_file(tmp_path, reader):
    for data in ("", "\ufeff", "\n\n \n", gzip.compress(b"")):
        (fault,) = faults_of(tmp_path, data, **READERS[reader][1])
        assert "is empty" in fault


@pytest.mark.parametrize("reader", READERS)
def test_every_reader_on_a_file_cut_inside_a_row(tmp_path, reader):
    text, options = READERS[reader]
    last = text.rstrip("\n").rfind("\n")
    (fault,) = faults_of(tmp_path, text[: last + 8], **options)
    assert fault.startswith(f"line {text.count(chr(10), 0, last) + 2}: ")
    assert "cut short" in fault


@pytest.mark.parametrize("reader", READERS)
def test_every_reader_on_gzip_data_that_is_cut_or_damaged(tmp_path, reader):
    text, options = READERS[reader]
    head, _, rows = text.partition("\n")
    noise = "".join(random.Random(3).choices("0123456789", k=50_000))
    whole = gzip.compress(f"{head}\n{rows * 99}{noise}".encode())
    assert "gzip data ends, it is cut short or damaged" in faults_of(tmp_path, whole[:-40], **options)[-1]
    damaged = bytearray(whole)
    damaged[len(whole) // 2 :] = bytes(len(whole) - len(whole) // 2)
    assert "gzip data" in faults_of(tmp_path, bytes(damaged), **options)[-1]


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("other", READERS)
def test_every_reader_on_every_other_format(tmp_path, reader, other):
    if reader != other:
        (fault,) = faults_of(tmp_path, READERS[other][0], **READERS[reader][1])
        assert "first line" in fault or "has no column" in fault


@pytest.mark.parametrize("reader", READERS)
def test_every_reader_on_binary_data(tmp_path, reader):
    for seed in range(5):
        data = random.Random(seed).randbytes(5_000)
        assert faults_of(tmp_path, data, **READERS[reader][1])
        assert faults_of(tmp_path, READERS[reader][0].encode() + data, **READERS[reader][1])


def with_fields(reader, time=None, prompt=None, output=None):
    """A trace of the reader's format whose last row has these fields."""
    if reader == "mooncake":
        given = {"timestamp": time, "input_length": prompt, "output_length": output}
        fields = {key: value for key, value in given.items() if value is not None}
        texts = {key: json.dumps(value) for key, value in MOONCAKE_ROWS[0].items()} | fields
        return MOONCAKE + "{" + ", ".join(f'"{key}": {value}' for key, value in texts.items()) + "}\n"
    head, first = READERS[reader][0].splitlines()[:2]
    at = {"azure": (0, 1, 2), "burstgpt": (0, 2, 3), "csv": (1, 2, 3)}[reader]
    row = first.split(",")
    for position, value in zip(at, (time, prompt, output), strict=True):
        row[position] = row[position] if value is None else value
    return f"{head}\n{first}\n{','.join(row)}\n"


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize(
    "number", ["-3", "2.5", "1e3", str(10**30), "9" * 5_000, "10000001", "NaN", "Infinity", "0x10", ""]
)
def test_every_reader_on_a_number_that_is_no_length(tmp_path, reader, number):
    for field in ("prompt", "output"):
        faults = faults_of(tmp_path, with_fields(reader, **{field: number}), **READERS[reader][1])
        assert len(faults) == 1
        assert faults[0].startswith("line 7: " if reader == "mooncake" else "line 3: ")


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("time", ["-1", str(10**30), "1e999999999", "9" * 5_000, "NaN", "soon", ""])
def test_every_reader_on_a_number_that_is_no_time(tmp_path, reader, time):
    (fault,) = faults_of(tmp_path, with_fields(reader, time=time), **READERS[reader][1])
    assert fault.startswith("line 7: " if reader == "mooncake" else "line 3: ")


JSON_ROWS = {
    "a text": {"input_length": "1000"},
    "null": {"timestamp": None},
    "true": {"output_length": True},
    "a whole float": {"input_length": 1000.0},
    "too few hashes": {"hash_ids": [1]},
    "too many hashes": {"hash_ids": [1, 2, 3]},
    "no list": {"hash_ids": 7},
    "no hash": {"hash_ids": [1, "a"]},
    "a negative hash": {"hash_ids": [1, -1]},
    "a hash of 65 bits": {"hash_ids": [1, 2**64]},
    "a true hash": {"hash_ids": [1, True]},
    "a float hash": {"hash_ids": [1, 2.0]},
}


@pytest.mark.parametrize("case", JSON_ROWS)
def test_json_values_that_are_none(tmp_path, case):
    (fault,) = faults_of(tmp_path, MOONCAKE + json.dumps(MOONCAKE_ROWS[0] | JSON_ROWS[case]) + "\n")
    assert fault.startswith(f"line 7: {next(iter(JSON_ROWS[case]))}: got ")


@pytest.mark.parametrize(
    "line",
    ["[1]", "{}", "7", "null", MOONCAKE.splitlines()[0] + MOONCAKE.splitlines()[0], "[" * 100_000, '{"a": ' * 2_000],
)
def test_json_lines_that_are_no_request(tmp_path, line):
    (fault,) = faults_of(tmp_path, f"{MOONCAKE}{line}\n{MOONCAKE}")
    assert fault.startswith("line 7: ")


def test_hashes_come_in_all_rows_or_in_none(tmp_path):
    bare = {key: value for key, value in MOONCAKE_ROWS[0].items() if key != "hash_ids"}
    assert "has no hash_ids" in faults_of(tmp_path, MOONCAKE + json.dumps(bare) + "\n")[0]
    assert "after rows without" in faults_of(tmp_path, json.dumps(bare) + "\n" + MOONCAKE)[0]


UNSUPPORTED = {
    "ShareGPT": ('{"id": 1, "conversations": []}\n', "a ShareGPT data set"),
    "a JSON list": ('[{"id": 1}]', "a JSON list"),
    "a pretty JSON document": ('{\n  "a": 1\n}\n', "no complete JSON object"),
    "a benchmark result": ('{"ttfts": [1], "request_throughput": 2}\n', "a benchmark result"),
    "Bailian": (
        '{"chat_id": 1, "parent_chat_id": 2, "timestamp": 0.1, "input_length": 1, "output_length": 1}',
        "a Qwen-Bailian",
    ),
    "prompts": ('{"prompt": "hello"}\n', "a data set of prompts"),
    "Parquet": (b"PAR1" + bytes(50), "a Parquet file"),
    "zstd": (b"\x28\xb5\x2f\xfd" + bytes(50), "compressed with zstd"),
    "a spreadsheet": (b"PK\x03\x04" + bytes(50), "a zip archive or a spreadsheet"),
    "UTF-16": (AZURE_2023.encode("utf-16"), "UTF-16 text"),
    "another CSV": (
        "arrived_at,num_prefill_tokens\n1,2\n",
        "a header that is not known (arrived_at, num_prefill_tokens)",
    ),
    "semicolons": ("time;in;out\n1;2;3\n", "a header that is not known (time;in;out)"),
    "CR only": (AZURE_2023.replace("\n", "\r"), "a header that is not known"),
    "Latin-1": ("größe,b,c\n1,2,3\n".encode("latin-1"), "no UTF-8 text"),
}


@pytest.mark.parametrize("what", UNSUPPORTED)
def test_a_format_that_is_not_read_is_named_with_those_that_are(tmp_path, what):
    data, kind = UNSUPPORTED[what]
    (fault,) = faults_of(tmp_path, data)
    assert kind in fault
    if not isinstance(data, bytes):
        assert all(name in fault for name in ("azure (CSV", "burstgpt (CSV", "mooncake (JSON lines", "--columns"))


def test_a_column_twice(tmp_path):
    assert (
        "its header has ContextTokens twice"
        in faults_of(tmp_path, "TIMESTAMP,ContextTokens,ContextTokens,GeneratedTokens\n")[0]
    )


def test_faults_come_at_once_each_with_its_line_and_the_rest_is_counted(tmp_path):
    rows = [AZURE_ROW, "x,1,2\n", "2023-11-16 18:17:04,-1,2\n", AZURE_ROW, "2023-11-16 18:17:04,1\n", "1,2,3,4\n"]
    faults = faults_of(tmp_path, AZURE_HEAD + "".join(rows))
    assert [fault.partition(":")[0] for fault in faults] == ["line 3", "line 4", "line 6", "line 7"]
    assert (
        faults[0]
        == 'line 3: TIMESTAMP: got "x", wanted a time such as 2023-11-16 18:17:03.9799600; correct or remove the row.'
    )
    assert faults[2] == "line 6: got 2 of 3 columns; the file may be cut short here."
    faults = faults_of(tmp_path, AZURE_HEAD + "x,1,2\n" * 25)
    assert (len(faults), faults[-1]) == (11, "and 15 more faulty lines; repair these first.")
    faults = faults_of(tmp_path, AZURE_HEAD + "x,1,2\n" * 10**5)
    assert faults[-1] == "and 990 more faulty lines; reading stopped there."


def test_lines_are_counted_through_quoted_line_breaks_and_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr("sweep.traffic.source.PIECE_BYTES", 64)
    text = "note,t,p,o\n" + '"two\nlines",1,20,3\n' * 40 + '"two\nlines",1,-20,3\n'
    (fault,) = faults_of(tmp_path, text, columns={"time": "t", "prompt": "p", "output": "o"}, unit="s")
    assert fault.startswith("line 82: p: got ")


@pytest.mark.parametrize(
    ("tail", "message"),
    [
        ('2023-11-16 18:17:05,"1,2\n' + AZURE_ROW * 9, "is no CSV"),
        ('2023-11-16 18:17:05,"1" 2,2\n', "is no CSV"),
        ("2023-11-16 18:17:05,1\r5,2\n", "is no CSV"),
        ("2023-11-16 18:17:05,1\0,2\n", "has a NUL byte"),
        ("2023-11-16 18:17:05,1," + "2" * 10**7 + "\n", "has no end within"),
        ('2023-11-16 18:17:05,1,"' + "2\n" * 10**7, "has no end within"),
        ("\n" * 20_000, "is blank as 10 000 lines before it are"),
    ],
)
def test_text_that_is_no_csv(tmp_path, tail, message):
    (fault,) = faults_of(tmp_path, AZURE_HEAD + AZURE_ROW + tail)
    assert fault.startswith("line ")
    assert message in fault


def test_times_with_and_without_an_offset_do_not_mix(tmp_path):
    for rows in (["", "Z"], ["Z", ""]):
        text = AZURE_HEAD + "".join(f"2023-11-16 18:17:05{zone},1,2\n" for zone in rows)
        assert "wanted all alike" in faults_of(tmp_path, text)[0]


@pytest.mark.parametrize("filler", [b"\0", b"a", b",", b"\n", b'"\n', b" \n", b"{", b"[", b"x,1,2\n"])
def test_a_small_gzip_file_of_many_bytes(tmp_path, filler):
    path = tmp_path / "bomb.gz"
    for head in (AZURE_HEAD, "\n", ""):
        with gzip.open(path, "wb", 1) as file:
            file.write(head.encode())
            for _ in range(64):
                file.write(filler * (2**20 // len(filler)))
        with pytest.raises(InputFault) as caught:
            sweep.trace_facts(path)
        assert len(caught.value.faults) <= 11


@pytest.mark.parametrize("path", ["", "a\0b", "x" * 5_000, "/dev/null", "/dev/zero", "no such file"])
def test_an_impossible_path_is_one_sentence(tmp_path, monkeypatch, path):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputFault) as caught:
        sweep.trace_facts(path)
    assert len(caught.value.faults) == 1
    assert caught.value.faults[0].isprintable()


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root reads everything")
def test_a_file_that_may_not_be_read(tmp_path):
    path = tmp_path / "secret.csv"
    path.write_text(AZURE_2023)
    path.chmod(0)
    with pytest.raises(InputFault, match="cannot be read"):
        sweep.trace_facts(path)


@given(st.sampled_from(list(READERS)), st.data())
def test_drawn_damage_is_read_or_told(tmp_path_factory, reader, data):
    """Bytes put in, taken out or changed anywhere: facts, or faults."""
    text, options = READERS[reader]
    damaged = bytearray(text.encode())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(damaged)))
        length = data.draw(st.integers(0, 3))
        damaged[at : at + length] = data.draw(
            st.binary(max_size=4) | st.sampled_from([b",", b"\n", b'"', b"\r\n", b"-", b"9"])
        )
    path = tmp_path_factory.mktemp("drawn") / "trace"
    path.write_bytes(bytes(damaged))
    try:
        told = sweep.trace_facts(path, **options).requests >= 1
    except SweepError as error:
        told = all(fault.isprintable() for fault in error.faults)
    assert told
