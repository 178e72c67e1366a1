"""Facts: of small traces by hand, of drawn ones by a naive count, of the handed-over ones as they are told."""

import json
import random
import tracemalloc
from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from trace_texts import AZURE_2023, BURSTGPT, MOONCAKE, PLAIN, PLAIN_OPTIONS, SHARED

import sweep
from sweep.errors import InputFault, UsageFault
from sweep.traffic.facts import Busiest, Lengths, rounded
from sweep.traffic.prefix import PrefixFacts

TRACES = SHARED / "data" / "traces"
handed_over = pytest.mark.skipif(not TRACES.is_dir(), reason=f"needs the traces of {TRACES.parent.name}/{TRACES.name}")


def facts_of(folder, text, **options):
    path = folder / "trace"
    path.write_bytes(text.encode())
    return sweep.trace_facts(path, **options)


def test_an_azure_trace_by_hand(tmp_path):
    facts = facts_of(tmp_path, AZURE_2023)
    assert (facts.requests, facts.failed_requests, facts.failed_prompt_tokens) == (5, 1, 50)
    assert (facts.span_ns, facts.in_order) == (60 * 10**9, True)
    assert facts.mean_millirps == 84  # 5 in 60 s are 83.3 per 1000 s
    assert facts.busiest == {
        "minute": Busiest(4, 60, 0),
        "ten-seconds": Busiest(4, 10, 0),
        "second": Busiest(3, 1, 0),
    }
    assert [busiest.millirps for busiest in facts.busiest.values()] == [67, 400, 3000]
    assert (facts.seconds, facts.empty_seconds) == (61, 58)
    assert facts.prompt == Lengths(1010, 5, 200, 400, 400, 400)
    assert facts.output == Lengths(105, 5, 20, 40, 40, 40)
    assert facts.prompt.mean_tokens == 202
    assert facts.prefix is None


def test_a_failed_row_neither_opens_nor_ends_a_trace(tmp_path):
    text = "Timestamp,Request tokens,Response tokens\n1,9,0\n4,9,1\n6,9,1\n99,9,0\n"
    facts = facts_of(tmp_path, text)
    assert (facts.first_ns, facts.span_ns, facts.requests, facts.failed_requests) == (4 * 10**9, 2 * 10**9, 2, 2)


def test_bins_begin_at_the_earliest_request_wherever_it_stands(tmp_path):
    """In file order bins from 10.5 s would hold 10.5 and 11.4 together; from 1.2 s on they do not."""
    text = "Timestamp,Request tokens,Response tokens\n10.5,9,1\n11.4,9,1\n1.2,9,1\n1.9,9,1\n"
    facts = facts_of(tmp_path, text)
    assert not facts.in_order
    assert facts.first_ns == 1_200_000_000
    assert facts.busiest["second"] == Busiest(2, 1, 0)
    assert facts.busiest["ten-seconds"] == Busiest(3, 10, 0)
    assert (facts.seconds, facts.empty_seconds) == (11, 8)


def test_requests_at_one_instant_have_no_mean_rate(tmp_path):
    facts = facts_of(tmp_path, "Timestamp,Request tokens,Response tokens\n7,9,1\n7,9,2\n")
    assert (facts.span_ns, facts.mean_millirps, facts.seconds, facts.empty_seconds) == (0, None, 1, 0)
    assert facts.busiest["second"].millirps == 2_000
    with pytest.raises(UsageFault, match="take level second"):
        facts.rate("mean")


def test_a_mooncake_trace_by_hand(tmp_path):
    facts = facts_of(tmp_path, MOONCAKE)
    assert (facts.requests, facts.failed_requests) == (5, 1)
    assert facts.prefix == PrefixFacts(512, 12, 3, 1, 1512, 2)
    assert (facts.span_ns, facts.mean_millirps) == (9 * 10**9, 556)
    assert facts.busiest["second"] == Busiest(3, 1, 0)


def test_json_keys_stay(tmp_path):
    document = json.loads(json.dumps(facts_of(tmp_path, MOONCAKE).as_json()))
    assert list(document) == [
        "trace",
        "format",
        "requests",
        "failed",
        "first_ns",
        "span_ns",
        "in_order",
        "times_cut",
        "mean_millirps",
        "busiest",
        "seconds",
        "prompt",
        "output",
        "joint",
        "prefix",
    ]
    assert document["busiest"]["ten-seconds"] == {"requests": 5, "seconds": 10, "from_second": 0, "millirps": 500}
    assert document["prompt"]["mean_tokens"] == "1022.60"
    assert document["prompt"]["mean_tokens_exact"] == "5113/5"
    assert document["joint"][0] == {
        "prompt_from": 512,
        "prompt_to": 1023,
        "output_from": 4,
        "output_to": 7,
        "requests": 2,
        "prompt_tokens": 2000,
        "output_tokens": 12,
    }
    assert sum(cell["requests"] for cell in document["joint"]) == 5
    assert document["prefix"]["hit_tokens"] == 1512


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("TIMESTAMP,ContextTokens,GeneratedTokens\n", "has no rows"),
        (BURSTGPT.replace("18", "0").replace("276", "0"), "all failed"),
    ],
)
def test_nothing_that_was_answered(tmp_path, text, message):
    with pytest.raises(InputFault, match=message):
        facts_of(tmp_path, text)


def naive(rows):
    """The facts of (seconds, prompt, output) rows, counted one by one."""
    served = [row for row in rows if row[2]]
    start = min(at for at, *_ in served)
    bins = {size: Counter((at - start) // size for at, *_ in served) for size in (60, 10, 1)}
    ranked = [sorted(row[k] for row in served) for k in (1, 2)]
    return {
        "busiest": [max(found.values()) for found in bins.values()],
        "from": [min(k for k, n in found.items() if n == max(found.values())) * s for s, found in bins.items()],
        "empty": max(bins[1]) + 1 - len(bins[1]),
        "percentiles": [[some[-(-len(some) * p // 100) - 1] for p in (50, 90, 99, 100)] for some in ranked],
        "totals": [sum(some) for some in ranked],
        "failed": len(rows) - len(served),
    }


row = st.tuples(
    st.integers(0, 300_000).map(lambda ms: Fraction(ms, 1000)),
    st.integers(0, 40),
    st.sampled_from([0, 1, 2, 9, 700, 10**7]),
)


@given(
    st.lists(row, min_size=1, max_size=40).filter(lambda rows: any(output for *_, output in rows)), st.integers(9, 99)
)
def test_drawn_traces_in_drawn_blocks(tmp_path_factory, rows, piece):
    text = "t,p,o\n" + "".join(f"{float(at):.3f},{p},{o}\n" for at, p, o in rows)
    path = tmp_path_factory.mktemp("drawn") / "trace.csv"
    path.write_text(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sweep.traffic.source.PIECE_BYTES", piece)
        patch.setattr("sweep.traffic.tally._FEWEST_WAITING", 3)
        facts = sweep.trace_facts(path, columns={"time": "t", "prompt": "p", "output": "o"}, unit="s")
    found = {
        "busiest": [busiest.requests for busiest in facts.busiest.values()],
        "from": [busiest.from_second for busiest in facts.busiest.values()],
        "empty": facts.empty_seconds,
        "percentiles": [
            [lengths.p50_tokens, lengths.p90_tokens, lengths.p99_tokens, lengths.max_tokens]
            for lengths in (facts.prompt, facts.output)
        ],
        "totals": [facts.prompt.total_tokens, facts.output.total_tokens],
        "failed": facts.failed_requests,
    }
    assert found == naive(rows)
    assert sum(cell.requests for cell in facts.cells) == facts.requests
    assert sum(cell.prompt_tokens for cell in facts.cells) == facts.prompt.total_tokens
    assert sum(cell.output_tokens for cell in facts.cells) == facts.output.total_tokens


def naive_prefix(requests):
    """(hit blocks, partial ones, hit tokens, requests with hits) of (prompt, hashes), with a set of all that came."""
    seen, hits, partial, tokens, sharing = set(), 0, 0, 0, 0
    for prompt, ids in requests:
        leading = next((at for at, one in enumerate(ids) if one not in seen), len(ids))
        hits += leading
        tokens += min(leading * 512, prompt)
        partial += leading == len(ids) and prompt % 512 > 0
        sharing += leading > 0
        seen.update(ids)
    return hits, partial, tokens, sharing


ids = st.integers(0, 6) | st.sampled_from([2**26 - 1, 2**26, 2**40, 2**63, 2**64 - 1])
prompts = st.integers(1, 2_000).flatmap(
    lambda n: st.tuples(st.just(n), st.lists(ids, min_size=-(-n // 512), max_size=-(-n // 512)))
)


@given(st.lists(prompts, min_size=1, max_size=30), st.integers(60, 400))
def test_drawn_prefixes_in_drawn_blocks(tmp_path_factory, requests, piece):
    rows = [{"timestamp": 0, "input_length": n, "output_length": 1, "hash_ids": some} for n, some in requests]
    path = tmp_path_factory.mktemp("drawn") / "trace.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in rows))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sweep.traffic.source.PIECE_BYTES", piece)
        prefix = sweep.trace_facts(path).prefix
    assert (prefix.hit_blocks, prefix.hit_partial_blocks, prefix.hit_tokens, prefix.hit_requests) == naive_prefix(
        requests
    )
    assert prefix.blocks == sum(len(some) for _, some in requests)


def test_memory_grows_with_distinct_values_only(tmp_path):
    """Seven times the rows of the same lengths and seconds: the same memory, far less than the file."""
    drawn = random.Random(5)
    lines = "".join(
        f"{drawn.randrange(600)}.{drawn.randrange(1000):03},{drawn.randrange(3000)},{drawn.randrange(1, 900)}\n"
        for _ in range(20_000)
    )
    peaks = []
    for times in (10, 70):
        path = tmp_path / f"{times}.csv"
        path.write_text("t,p,o\n0,1,1\n" + lines * times)
        tracemalloc.start()
        sweep.trace_facts(path, columns={"time": "t", "prompt": "p", "output": "o"}, unit="s")
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert path.stat().st_size > 20 * 2**20
    assert peaks[1] < 1.1 * peaks[0] < 25 * 2**20


def test_plain_csv_out_of_order(tmp_path):
    facts = facts_of(tmp_path, PLAIN, **PLAIN_OPTIONS)
    assert (facts.format, facts.requests, facts.span_ns, facts.in_order) == ("csv", 3, 2_500_500_000, False)
    assert facts.busiest["second"].requests == 1


@pytest.mark.parametrize(("ratio", "text"), [(Fraction(1, 3), "0.33"), (Fraction(1, 8), "0.13"), (Fraction(7), "7.00")])
def test_rounding_for_show_is_half_up(ratio, text):
    assert rounded(ratio) == text


@handed_over
def test_the_conversation_trace():
    facts = sweep.trace_facts(TRACES / "azure_llm_2023_conv.csv")
    assert (facts.requests, facts.span_ns, facts.mean_millirps) == (19_366, 3_501_721_937_000, 5_531)
    assert (rounded(facts.prompt.mean_tokens), rounded(facts.output.mean_tokens)) == ("1154.70", "211.13")
    assert facts.prompt == Lengths(22_361_870, 19_366, 1020, 2735, 4142, 14_050)
    assert facts.output == Lengths(4_088_665, 19_366, 129, 424, 601, 1000)
    assert (facts.busiest["minute"].requests, facts.busiest["second"].requests) == (507, 16)


@handed_over
def test_the_code_trace():
    facts = sweep.trace_facts(TRACES / "azure_llm_2023_code.csv")
    assert (facts.requests, facts.prompt.total_tokens, facts.output.total_tokens) == (8_819, 18_059_974, 245_896)
    assert (facts.mean_millirps, facts.busiest["second"].requests, facts.busiest["minute"].requests) == (2_567, 67, 632)
    assert (facts.empty_seconds, facts.seconds) == (2_521, 3_436)


@handed_over
def test_the_mooncake_trace():
    facts = sweep.trace_facts(TRACES / "mooncake_conversation_first4000.jsonl")
    assert (facts.requests, facts.prompt.total_tokens) == (4_000, 53_249_359)
    prefix = facts.prefix
    assert (prefix.block_tokens, prefix.blocks, prefix.hit_blocks, prefix.hit_tokens) == (
        512,
        105_904,
        34_480,
        17_647_225,
    )
