"""Whether a replica starts: by hand, against the ledger of `hardware`, and as launch lines of three engines."""

import shlex
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from served import manifests, small_grid, small_manifest

import sweep
from sweep.errors import AskedForFailure, UsageFault
from sweep.hardware import ENGINES, Cache, StageMemory, memory_ledger, uniform_layers, width_of
from sweep.operate.flags import NAMES, engine_share, launch_flags
from sweep.operate.flags_read import check_flags, parse_flags
from sweep.operate.manifest import Memory, Requests
from sweep.operate.manifest_check import check_manifest, facts_of, judge_launch, launch_of

# 1 000 bytes at 90 % hold 900; 600 of weights, 30 of activations, 20 of overhead and 5 reserved leave 245.
# A block of 2 tokens at 3 bytes has 6 bytes, so there are 40 blocks and 80 tokens.
HAND = replace(
    small_manifest(),
    batch_slots=8,
    prefill_chunk_tokens=7,
    longest_sequence_tokens=80,
    kv_bytes_per_token=3,
    block_tokens=2,
    memory=Memory(1_000, 900, 600, 30, 20, 5),
    requests=(Requests("chat", 9, 3), Requests("long", 11, 1)),  # 3 of 5 blocks and one of 6: 21 blocks hold 4
    evidence=None,
)


def test_by_hand():
    start = check_manifest(HAND)

    assert (start.pool_bytes, start.blocks, start.longest_fitting_tokens) == (245, 40, 80)
    assert start.effective_slots == 40 * 4 // 21 == 7
    assert start.refusals == (
        "slots 8, effective 7: the KV pool of 40 blocks holds no more requests of the declared mix at once; lower the "
        "slots to 7, or give the cache more memory.",
    )
    assert check_manifest(replace(HAND, batch_slots=7)).starts is True


def test_a_longest_sequence_over_the_pool():
    start = check_manifest(replace(HAND, batch_slots=7, longest_sequence_tokens=81))
    assert start.starts is False
    assert "longest sequence 81: it takes 41 blocks of 2 tokens and the KV pool has 40" in start.refusals[0]


def test_a_longest_sequence_below_what_the_classes_need():
    start = check_manifest(replace(HAND, batch_slots=7, longest_sequence_tokens=10))
    assert "class long has requests of 11 tokens, which the engine would refuse" in start.refusals[0]


def test_weights_that_do_not_fit():
    start = check_manifest(replace(HAND, memory=Memory(1_000, 900, 900, 30, 20, 5)))
    assert start.pool_bytes == 0
    assert "short by 55 bytes on 1 GPU" in start.refusals[0]


def test_every_reason_comes_at_once():
    start = check_manifest(replace(HAND, longest_sequence_tokens=81))
    assert [sentence.partition(" ")[0] for sentence in start.refusals] == ["longest", "slots"]


def test_a_pool_of_not_one_block():
    start = check_manifest(replace(HAND, memory=None, kv_pool_bytes=5))
    assert "hold not one block of 6 bytes" in start.refusals[0]


def test_without_a_mix_the_slots_are_not_known_and_that_is_no_pass():
    start = check_manifest(replace(HAND, requests=()))
    assert (start.starts, start.effective_slots) == (None, None)
    assert "no mix of requests is known" in start.unknown[0]


def test_a_grid_s_point_that_cannot_start_is_refused():
    wide = small_grid(("set", "gpu.memory_utilization_permille=250"), ("axis", "slots=[64, 100]"))
    with pytest.raises(AskedForFailure, match="slots 100, effective 11"):
        sweep.deployment_manifest(wide, "m", "v1", "vllm==0.19.0")


def test_the_pool_is_the_audit_s_bound_and_the_ledger_s():
    manifest, start = small_manifest(), check_manifest(small_manifest())
    cell = sweep.explain_grid(small_grid(), dict(manifest.evidence.point))
    memory = manifest.memory
    cache = Cache((uniform_layers(32, 8, 128),), width_of("bf16"), width_of("bf16"))
    ledger = memory_ledger(
        cache,
        [
            StageMemory(
                memory.memory_bytes,
                memory.weight_bytes,
                activation_bytes=memory.activation_bytes,
                framework_overhead_bytes=memory.framework_overhead_bytes,
            )
        ],
        Fraction(memory.memory_utilization_permille, 1_000),
    )

    assert start.pool_bytes == cell.bound("max_kv_bytes") == ledger.kv_pool_bytes
    assert (start.blocks, start.longest_fitting_tokens) == (ledger.blocks, ledger.longest_sequence_tokens)
    assert start.blocks == cell.blocks["available"]


@given(manifests(memory=True))
def test_what_is_accepted_starts_within_the_ledger(manifest):
    """Independently of the check: bytes of every slot's requests, of the longest one, and of all the rest."""
    start, memory = check_manifest(manifest), manifest.memory
    if start.starts is not True:
        assert start.refusals
        return
    gpus = manifest.tensor_parallel
    budget = gpus * (memory.memory_bytes * memory.memory_utilization_permille // 1_000)
    rest = memory.activation_bytes + memory.framework_overhead_bytes + memory.reserved_bytes
    pool = budget - memory.weight_bytes - gpus * rest
    block = manifest.block_tokens * manifest.kv_bytes_per_token

    def held(tokens):
        return -(-tokens // manifest.block_tokens) * block

    peak = sum(one.peak_concurrency for one in manifest.requests)
    mean = Fraction(sum(one.peak_concurrency * held(one.tokens) for one in manifest.requests), peak)
    assert held(manifest.longest_sequence_tokens) <= pool
    assert manifest.batch_slots * mean <= pool
    assert all(one.tokens <= manifest.longest_sequence_tokens for one in manifest.requests)


@given(manifests(memory=True))
def test_the_share_of_each_engine_gives_at_most_the_pool_and_still_starts(manifest):
    start = check_manifest(manifest)
    if start.starts is not True:
        return
    facts = facts_of(manifest)
    for engine in ENGINES:
        share = engine_share(manifest, engine)
        if share is None:
            continue
        there = judge_launch(replace(launch_of(manifest), engine=engine, share=share), facts)
        assert there.starts
        assert there.pool_bytes <= start.pool_bytes


def test_launch_lines():
    assert launch_flags(small_manifest()).line == (
        "vllm serve meta-llama/Llama-3.1-8B-Instruct --revision 0e9e39f249a16976918f6564b8830bc894c89659 "
        "--tensor-parallel-size 1 --max-num-seqs 100 --max-num-batched-tokens 1124 --max-model-len 2076 "
        "--gpu-memory-utilization 0.9 --kv-cache-dtype auto"
    )
    assert "--chunked-prefill-size 1024 --context-length 2076 --mem-fraction-static 0.8623" in (
        launch_flags(small_manifest(), "sglang").line
    )
    assert "--max_num_tokens 1124 --max_seq_len 2076 --kv_cache_free_gpu_memory_fraction 0.8708" in (
        launch_flags(small_manifest(), "tensorrt-llm").line
    )


def test_a_width_without_a_name_and_a_pool_without_memory_are_said():
    line = launch_flags(replace(small_manifest(), kv_bytes_per_value=Fraction(17, 32), memory=None, kv_pool_bytes=1))
    assert "--kv-cache-dtype" not in line.words
    assert "--gpu-memory-utilization" not in line.words
    assert len(line.notes) == 2
    note = launch_flags(replace(small_manifest(), kv_bytes_per_value=1), "tensorrt-llm").notes[-1]
    assert note == "kv_cache_dtype fp8 goes into the engine's configuration file"


@pytest.mark.parametrize(
    "name", ["a; rm -rf /", "$(reboot)", "`id`", "it's", 'a"b', "a b", "a\\b", "*", "~/m", "&&", "名"]
)
@pytest.mark.parametrize("engine", NAMES)
def test_a_hostile_name_is_one_word_of_the_shell(name, engine):
    line = launch_flags(replace(small_manifest(), model_id=name), engine)

    assert shlex.split(line.line) == list(line.words)
    assert shlex.split(" ".join(text.removesuffix(" \\") for text in line.lines())) == list(line.words)
    assert parse_flags(line.line).model == name
    assert all(len(text) <= 80 for text in line.lines())


@given(manifests())
def test_a_printed_line_reads_back_and_starts_as_its_manifest_does(manifest):
    start = check_manifest(manifest)
    for engine in NAMES if start.starts else ():
        line = launch_flags(manifest, engine)
        flags = parse_flags("\n".join(line.lines()))
        assert flags.model == manifest.model_id
        assert flags.values["batch_slots"] == manifest.batch_slots
        if "share" in flags.values and "kv_dtype" in flags.values:
            assert check_flags(flags, manifest).starts


def test_a_line_somebody_typed():
    flags = parse_flags("vllm serve my/model -tp 2 --max_num_seqs=64 --max-model-len 8K --enforce-eager -q fp8")

    assert (flags.engine, flags.model) == ("vllm", "my/model")
    assert flags.values == {"tensor_parallel": 2, "batch_slots": 64, "longest_sequence_tokens": 8_192}
    assert flags.unread == ("--enforce-eager", "-q")
    bare = parse_flags("--max-num-seqs 64 --model m")
    assert (bare.model, bare.values) == ("m", {"batch_slots": 64})
    assert parse_flags("python3 -m sglang.launch_server --tp 2 --model-path m").values == {"tensor_parallel": 2}
    boxed = parse_flags("docker run --gpus all image /usr/bin/trtllm-serve m --max_batch_size 8")
    assert (boxed.engine, boxed.model, boxed.values) == ("tensorrt-llm", "m", {"batch_slots": 8})
    assert parse_flags("--max-model-len 25.6k").values == {"longest_sequence_tokens": 25_600}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("", "is empty"),
        ("vllm serve 'm", "close its quotes"),
        ("--max-num-seqs 0", "got 0, wanted a whole number"),
        ("--max-num-seqs", "got nothing, wanted a whole number"),
        ("--max-num-seqs -5", "got -5"),
        ("--max-num-seqs 1e3", "got 1e3"),
        ("--max-num-seqs 6 --max_num_seqs 7", "comes twice"),
        ("--gpu-memory-utilization 90", "wanted a share above 0 and at most 1"),
        ("--gpu-memory-utilization nan", "got nan"),
        ("--max-model-len 1.00001k", "got 1.00001k"),
        ("x" * 100_001, "shorten it"),
    ],
)
def test_a_wrong_line_is_one_sentence(line, said):
    with pytest.raises(UsageFault) as fault:
        parse_flags(line)
    (sentence,) = fault.value.faults
    assert said in sentence


def test_what_a_line_leaves_open_is_not_known():
    start = check_flags(parse_flags("vllm serve m"), small_manifest())
    assert start.starts is None
    assert [sentence.partition(":")[0] for sentence in start.unknown] == ["memory share"]
    given = check_flags(parse_flags("vllm serve m --gpu-memory-utilization 0.9"), small_manifest())
    assert [sentence.partition(":")[0] for sentence in given.unknown] == ["longest sequence", "batch slots"]
    assert check_flags(parse_flags("vllm serve m --max-num-seqs 64"), None).starts is None


def test_a_step_that_does_not_hold_a_token_of_every_slot():
    start = check_flags(parse_flags("--max-num-seqs 64 --max-num-batched-tokens 32"), None)
    assert start.starts is False
    assert "tokens per step 32" in start.refusals[0]


def test_a_line_with_another_cache_dtype_or_other_gpus():
    line = "--gpu-memory-utilization 0.9 --max-model-len 2076 --max-num-seqs 400"
    assert check_flags(parse_flags(line), small_manifest()).effective_slots == 307
    assert check_flags(parse_flags(f"{line} --kv-cache-dtype fp8"), small_manifest()).effective_slots == 614
    odd = check_flags(parse_flags(f"{line} --kv-cache-dtype int3 -tp 2 -pp 2"), small_manifest())
    assert [sentence.partition(" ")[0] for sentence in odd.unknown] == ["pipeline", "tensor", "KV"]


def test_blocks_that_the_line_states_itself():
    line = "--gpu-memory-utilization 0.9 --max-model-len 2076 --max-num-seqs 64 --num-gpu-blocks-override 1300"
    assert check_flags(parse_flags(line), small_manifest()).effective_slots == 14
