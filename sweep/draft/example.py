"""The example that `sweep init` writes where nothing is given, and takes for each part that is not given.

Its text is in the package, so that an installed wheel has it; `grids/h100.toml` of a checkout is the same file, which a
test holds. Figures are read off that text, so that none is written twice.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from importlib.resources import files
from typing import Final

from sweep.calibrate.fit import NAMES
from sweep.draft.parts import Memory, Requests, Steps, Traffic
from sweep.draft.text import comment, paragraphs
from sweep.grid.load import parse_grid
from sweep.grid.model import Grid
from sweep.hardware.cache import Cache
from sweep.hardware.gpus import gpu_of
from sweep.hardware.layers import uniform_layers
from sweep.hardware.ledger import StageMemory
from sweep.hardware.replica import memory_ledger
from sweep.hardware.widths import width_of

FILE: Final = "h100.toml"
SHIPPED_AS: Final = f"grids/{FILE}"
"""How the text calls its own file, in the command that runs it."""

GPU: Final = "h100"
MODEL: Final = "llama-3.1-8b"
DTYPE: Final = "bf16"

GPU_GAP: Final = "GPU: the example's, an H100; give --gpu, or --memory"
MODEL_GAP: Final = f"model: the example's, {MODEL}; give --model, its config.json"
TRAFFIC_GAP: Final = (
    "traffic: the example's, two Azure traces of 2023; give --traffic, or --rate, --prompt and --output"
)
STEPS_GAP: Final = (
    "step time: the example's, published for this GPU and model, its prefill an ESTIMATE; measure yours and give the"
    " files with --calibrate"
)


@cache
def example_text() -> str:
    """The text of the example."""
    return files("sweep.draft").joinpath(FILE).read_text(encoding="utf-8")


@cache
def example_grid() -> Grid:
    """The example as a grid."""
    return parse_grid(example_text(), where=FILE)


def figure(path: str) -> int:
    """An integer of the example by its full path."""
    value = example_grid().base[path]
    assert isinstance(value, int)  # whoever asks knows the field
    return value


def parameters() -> int:
    """The parameters of its model, whose weights take two bytes each."""
    return figure("model.weight_bytes") // 2


def section(*heads: str) -> list[str]:
    """The blocks of the text that have one of these table heads, with the comments before them."""
    blocks = [block for block in example_text().split("\n\n") if any(f"\n{head}\n" in f"\n{block}\n" for head in heads)]
    return "\n\n".join(block.strip("\n") for block in blocks).split("\n")


def example_memory() -> Memory:
    """Its `[model]` and `[gpu]`."""
    width = width_of(DTYPE)
    shape = uniform_layers(*(figure(f"model.{key}") for key in ("layers", "kv_heads", "head_dim")))
    replica = Cache((shape,), width, width, figure("gpu.tensor_parallel"), figure("gpu.block_tokens"))
    amounts = ("memory_bytes", "activation_bytes", "framework_overhead_bytes")
    weights = figure("model.weight_bytes")
    stage = StageMemory(weight_bytes=weights, **{key: figure(f"gpu.{key}") for key in amounts})
    ledger = memory_ledger(replica, [stage], Fraction(figure("gpu.memory_utilization_permille"), 1_000))
    return Memory(
        paragraphs([f"{GPU_GAP}.", f"{MODEL_GAP}."]) + section("[model]", "[gpu]"),
        f"the example's, {MODEL} on one H100",
        (GPU_GAP, MODEL_GAP),
        name=f"{MODEL} on one H100",
        kv_pool_bytes=ledger.kv_pool_bytes,
        kv_bytes_per_token=ledger.kv_bytes_per_token,
        weight_bytes=weights,
        gpu=gpu_of(GPU),
        parameters=parameters(),
        parameters_from=f"of {MODEL}",
    )


def example_traffic() -> Traffic:
    """Its request classes."""
    classes = tuple(
        Requests(*(figure(f"class.{one}.{key}") for key in ("arrival_millirps", "prompt_tokens", "output_tokens")))
        for one in example_grid().class_ids
    )
    says = "the example's, the means of two Azure LLM inference traces of 2023"
    return Traffic(comment(f"{TRAFFIC_GAP}.") + section("[[class]]"), says, (TRAFFIC_GAP,), classes=classes)


def example_steps() -> Steps:
    """Its step time, published for its GPU and model."""
    base, per_sequence, per_token = (figure(f"step_time.{name}") for name in NAMES)
    lines = comment(f"{STEPS_GAP}.") + section("[step_time]")
    says = "the example's, published for this GPU and model; per_prefill_token_ns is an ESTIMATE"
    return Steps(lines, says, (STEPS_GAP,), (), base, per_sequence, per_token)
