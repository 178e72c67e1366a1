"""A small H100 grid, snapshots of a service as vLLM prints them, and manifests drawn at random."""

import os
import subprocess
import sys
from fractions import Fraction
from functools import cache
from pathlib import Path

from hypothesis import strategies as st

import sweep
from sweep.operate.manifest import Evidence, Manifest, Memory, Requests
from sweep.records.wording import CLAIM

GRIDS = Path(__file__).parents[1] / "grids"
SMALL = (
    ("axis", "share=[800, 850, 900]"),
    ("axis", "chunk=[512, 768, 1024]"),
    ("axis", "slots=[64, 80, 96, 100, 128]"),
    ("axis", "traffic=[500, 1000, 1400]"),
)
UNIT = ("meta-llama/Llama-3.1-8B-Instruct", "0e9e39f249a16976918f6564b8830bc894c89659", "vllm==0.19.0")
EDGES = ("0.01", "0.025", "0.05", "0.075", "0.1", "+Inf")


@cache
def small_grid(*overrides):
    """The H100 grid on a few values of each axis; its largest point is that of the whole grid."""
    return sweep.load_grid(GRIDS / "h100.toml", [*SMALL, *overrides])


@cache
def small_manifest():
    return sweep.deployment_manifest(small_grid(), *UNIT)


def sweep_in(folder, *args):
    """The exit code of a command in a folder, in a process of its own."""
    command = [sys.executable, "-m", "sweep", *map(str, args)]
    surroundings = {**os.environ, "PYTHONPATH": str(GRIDS.parent)}
    return subprocess.run(command, cwd=folder, env=surroundings, capture_output=True, check=False).returncode


def snapshot(running=0, waiting=0, usage="0.1", preempted=0, finished=0, itl=(0, 0, 0, 0, 0, 0), engine=0):
    """vLLM's metrics just then; `itl` counts per bucket of `EDGES`."""
    labels = f'engine="{engine}",model_name="m"'
    lines = [
        "# TYPE vllm:num_requests_running gauge",
        f"vllm:num_requests_running{{{labels}}} {running}.0",
        f"vllm:num_requests_waiting{{{labels}}} {waiting}.0",
        f"vllm:kv_cache_usage_perc{{{labels}}} {usage}",
        f"vllm:num_preemptions_total{{{labels}}} {preempted}.0",
        f'vllm:request_success_total{{finished_reason="stop",{labels}}} {finished}.0',
    ]
    up_to = 0
    for edge, count in zip(EDGES, itl, strict=True):
        up_to += count
        lines.append(f'vllm:inter_token_latency_seconds_bucket{{le="{edge}",{labels}}} {up_to}.0')
    return "\n".join(lines) + "\n"


BYTES = st.integers(0, 10**12)
DIGESTS = st.text("0123456789abcdef", min_size=64, max_size=64)
IDS = st.text(min_size=1, max_size=40).filter(
    lambda text: text.isprintable() and text == text.strip() and not text.startswith("-")
)
NAMES = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_.:/@-]{0,20}", fullmatch=True)

MEMORIES = st.builds(
    Memory,
    st.integers(10**9, 10**12),
    st.integers(1, 1_000),
    BYTES,
    st.integers(0, 10**9),
    st.integers(0, 10**9),
    st.integers(0, 10**9),
)
REQUESTS = st.lists(
    st.builds(Requests, NAMES, st.integers(1, 10_000), st.integers(1, 200)),
    min_size=1,
    max_size=4,
    unique_by=lambda one: one.class_id,
).map(tuple)
POINTS = st.dictionaries(NAMES, st.integers(0, 10**6) | NAMES, max_size=4).map(lambda point: tuple(point.items()))
EVIDENCE = st.builds(Evidence, DIGESTS, POINTS, DIGESTS, DIGESTS, DIGESTS, st.just(CLAIM))


@st.composite
def manifests(draw, memory=None):
    """A manifest that nobody judged; `memory` True: of memory, False: of a stated pool, None: either."""
    of_memory = draw(st.booleans()) if memory is None else memory
    return Manifest(
        model_id=draw(IDS),
        model_revision=draw(st.from_regex(r"[0-9a-f]{7,40}", fullmatch=True)),
        framework=draw(st.sampled_from(["vllm==0.19.0", "sglang==0.5.2", "tensorrt-llm==1.0.0rc3"])),
        replica_count=draw(st.integers(1, 10**6)),
        batch_slots=draw(st.integers(1, 1_000)),
        prefill_chunk_tokens=draw(st.integers(1, 10_000)),
        longest_sequence_tokens=draw(st.integers(1, 200_000)),
        tensor_parallel=draw(st.integers(1, 8)),
        kv_bytes_per_value=draw(st.sampled_from([None, 1, 2, Fraction(17, 32)])),
        kv_bytes_per_token=draw(st.integers(1, 10**6)),
        block_tokens=draw(st.sampled_from([1, 16, 32])),
        memory=draw(MEMORIES) if of_memory else None,
        kv_pool_bytes=None if of_memory else draw(BYTES),
        requests=draw(REQUESTS),
        evidence=draw(st.none() | EVIDENCE),
    )
