"""How the layers of a model are dealt to the stages of a pipeline."""

from collections.abc import Sequence
from itertools import accumulate

from sweep.hardware.checks import COUNT, GPUS, each_integer, raise_if_any
from sweep.hardware.layers import CacheLayer
from sweep.records.checks import integer_faults


def stage_counts(layers: int, stages: int, engine: str) -> tuple[int, ...] | None:
    """Layers of each stage; None where the engine's way to deal an uneven number is not known.

    vLLM (`get_pp_indices` of its `distributed/utils.py`) gives what remains of an even split one by one to the
    stages before the last, backwards from the last but one.

    Args:
        layers: layers of the model.
        stages: stages, at most as many as layers.
        engine: `vllm`, `sglang` or `tensorrt-llm`.

    >>> stage_counts(32, 4, "sglang"), stage_counts(22, 4, "vllm"), stage_counts(22, 4, "sglang")
    ((8, 8, 8, 8), (5, 6, 6, 5), None)
    """
    raise_if_any([*integer_faults("layers", layers, COUNT), *integer_faults("stages", stages, GPUS)])
    even, rest = divmod(layers, stages)
    if rest and engine != "vllm":
        return None
    counts = [even] * stages
    for back in range(2, rest + 2):
        counts[-back] += 1
    return tuple(counts)


def staged(layers: Sequence[CacheLayer], counts: tuple[int, ...]) -> tuple[tuple[CacheLayer, ...], ...]:
    """The layers of each stage, in the order of the model.

    Args:
        layers: of the whole model.
        counts: layers of each stage, which add up to all of them.

    Raises:
        RecordFault: they do not.
    """
    faults = each_integer("stage_layers", counts, COUNT)
    if not faults and sum(counts) != len(layers):
        faults = [f"stage_layers: got {sum(counts)} layers in {len(counts)} stages, want the model's {len(layers)}."]
    raise_if_any(faults)
    ends = list(accumulate(counts))
    return tuple(tuple(layers[end - count : end]) for end, count in zip(ends, counts, strict=True))
