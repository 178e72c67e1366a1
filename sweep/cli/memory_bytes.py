"""The memory of the replica of `sweep memory`: its GPUs, the engine's share, the weights, or a measured pool."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from sweep.cli.memory_given import Given, per_stage, read_width
from sweep.errors import InputFault, UsageFault
from sweep.units import UnitError, grouped, shown

if TYPE_CHECKING:
    from sweep.hardware import Amount, Cache, StageMemory

_AMOUNTS = {
    "activation_bytes": "activations",
    "activation_bytes_per_chunk_token": "activations_per_chunk_token",
    "framework_overhead_bytes": "overhead",
    "reserved_bytes": "reserved",
}
"""Amounts of a stage that may be left out -> their options."""

_ONE_WAY = "wanted one: the bytes of the weights, or how many there are."


def read_memory(
    given: Given, cache: Cache | None
) -> tuple[tuple[StageMemory, ...], Fraction | None, tuple[Amount, ...] | None]:
    """The memory of each stage, the engine's share of it, and the measured pools; faults are noted."""
    from sweep.hardware import StageMemory, exactly

    stages = given.stages
    pools = _pools(given, cache)
    memory, share = _memory_bytes(given), _share(given)
    if pools is not None:
        given.usage += [
            f"--{name.replace('_', '-')}: goes into reckoning the pool, and the pool is given; leave one out."
            for name in ("weights", "parameters", *_AMOUNTS.values())
            if given.said(name)
        ]
        if memory is None or share is None:
            return (), None, pools
        return tuple(StageMemory(amount, 0) for amount in memory), share, pools
    weights = _weights(given)
    rest: dict[str, tuple[Amount, ...]] = {}
    for figure, option in _AMOUNTS.items():
        amounts = per_stage(given, option)
        given.source(figure, f"--{option.replace('_', '-')}" if amounts else "not given, so 0")
        rest[figure] = amounts or (exactly(0, "not given"),) * stages
    if any(amount.value for amount in rest["activation_bytes_per_chunk_token"]) and not given.said("chunk"):
        given.usage.append("--chunk: missing, and --activations-per-chunk-token grows with it; give both.")
    if memory is None or share is None or weights is None or given.usage or given.input:
        return (), None, None
    return (
        tuple(
            StageMemory(memory[at], weights[at], **{figure: amounts[at] for figure, amounts in rest.items()})
            for at in range(stages)
        ),
        share,
        None,
    )


def asks_for_memory(given: Given) -> bool:
    """Whether the options ask how much fits, and not only what a request takes."""
    names = ("gpu", "memory", "utilization", "weights", "parameters", "pool", "blocks", *_AMOUNTS.values())
    return any(given.said(name) for name in names)


def _memory_bytes(given: Given) -> tuple[Amount, ...] | None:
    """Bytes of one GPU of each stage."""
    from sweep.hardware import exactly, gpu_of

    if given.said("gpu") and given.said("memory"):
        given.notes.append("--memory overrides the catalogue's bytes of the GPU.")
    if given.said("memory"):
        given.source("memory_bytes", "--memory")
        return per_stage(given, "memory")
    if given.said("gpu"):
        try:
            gpus = [gpu_of(name) for name in given.options["gpu"].split(",")]
        except UsageFault as error:
            given.usage += error.faults
            return None
        gpus = gpus * given.stages if len(gpus) == 1 else gpus
        if len(gpus) != given.stages:
            wanted = f"wanted one, or one for each of the stages ({given.stages}), with commas"
            given.usage.append(f"--gpu: got {len(gpus)}, {wanted}.")
            return None
        named = dict.fromkeys(f"{gpu.title}: {gpu.memory_source}" for gpu in gpus)
        given.source("memory_bytes", "catalogue, " + "; ".join(named))
        given.notes.append(
            "An engine takes its share of what the runtime reports (torch.cuda.mem_get_info), which is up to 2 % below"
            " the driver's total of the catalogue; give that with --memory where you know it."
        )
        return tuple(exactly(gpu.memory_bytes, gpu.memory_source) for gpu in gpus)
    if not (given.said("pool") or given.said("blocks")):
        given.usage.append("--gpu or --memory: missing, wanted the memory of a GPU; give one, or a measured --pool.")
    return None


def _share(given: Given) -> Fraction | None:
    from sweep.hardware import ENGINES, share_of

    engine, text = ENGINES[given.options["engine"]], given.options["utilization"]
    if text is None:
        if not (given.said("pool") or given.said("blocks")):
            flag = f"{engine.title}'s {engine.flag}, a share {engine.of}"
            given.usage.append(f"--utilization: missing, wanted {flag}; give it, such as 0.9.")
        return None
    try:
        share = share_of(text)
    except UnitError as error:
        given.usage.append(f"--utilization: got {shown(text)}; {error}.")
        return None
    given.source("share", f"--utilization {text}: {engine.flag}")
    return share


def _weights(given: Given) -> tuple[Amount, ...] | None:
    """Bytes of the weights of each stage."""
    from sweep.hardware import exactly
    from sweep.hardware.document import weight_bytes_of_index

    options = given.options
    derived = given.config.parameters if given.config else None
    quantized = given.config.quantization if given.config else ""
    if quantized and (given.said("weights") or given.said("weight_dtype")):
        given.notes.append(
            f"The config has a {quantized}: the weights are quantized, their bytes are those of the option, and some"
            " layers may be in a wider type."
        )
    if given.said("weights") and given.said("parameters"):
        given.usage.append(f"--weights or --parameters: both given, {_ONE_WAY}")
        return None
    if given.said("weight_dtype") and given.said("weights"):
        given.usage.append("--weight-dtype: goes with --parameters; leave it out, --weights are bytes.")
    if given.said("parameters"):
        return _parameters(given, options["parameters"], f"--parameters {options['parameters']}")
    if derived is not None and not given.said("weights") and not _several(given):
        return _parameters(given, derived.total, f"config: {grouped(derived.total)} parameters of {derived.family},")
    if not given.said("weights"):
        if given.config is not None or not given.said("model"):  # a config with faults has its sentences already
            given.usage.append(f"--weights or --parameters: missing, {_ONE_WAY}")
        return None
    if options["weights"].strip().endswith(".json"):
        if _several(given):
            given.usage.append("--weights: an index states the whole model; give the bytes of each stage, with commas.")
            return None
        path = Path(options["weights"].strip())
        try:
            total = weight_bytes_of_index(path)
        except InputFault as error:
            given.input += error.faults
            return None
        given.source("weight_bytes", f"{path.name}: metadata.total_size")
        return (exactly(total, "metadata.total_size"),)
    given.source("weight_bytes", "--weights")
    return per_stage(given, "weights")


def _several(given: Given) -> bool:
    """Whether there are several pipeline stages, of which no figure of the whole model says the parts."""
    return given.stages > 1


def _parameters(given: Given, count: int, source: str) -> tuple[Amount, ...] | None:
    """Bytes of so many parameters, all in one dtype."""
    from sweep.hardware import exactly

    options = given.options
    if given.config and given.config.quantization and not given.said("weight_dtype"):
        given.usage.append(
            f"--parameters: the config has a {given.config.quantization}, so their width is not its dtype; give"
            " --weight-dtype (fp8, int4, mxfp4), or the bytes with --weights."
        )
        return None
    dtype = options["weight_dtype"] or options["dtype"] or (given.config.dtype if given.config else None)
    if dtype is None:
        given.usage.append("--parameters: have no width yet; give --weight-dtype (bf16, fp8, 17/32).")
        return None
    if _several(given):
        given.usage.append("--parameters: are of the whole model; give --weights of each stage, with commas.")
        return None
    width = read_width(given, "--weight-dtype", dtype)
    if width is None:
        return None
    exact = count * width.bytes_per_value
    if exact.denominator != 1 or width.scale_bytes:
        given.usage.append("--parameters: make no whole number of bytes in that width; give --weights.")
        return None
    given.source("weight_bytes", f"{source} in {dtype}")
    return (exactly(exact.numerator, "--parameters"),)


def _pools(given: Given, cache: Cache | None) -> tuple[Amount, ...] | None:
    """The measured pool of each stage, from bytes or from blocks."""
    from sweep.hardware import exactly

    if given.said("pool") and given.said("blocks"):
        given.usage.append("--pool and --blocks: both given, wanted one; leave one out.")
        return None
    if given.said("pool"):
        given.source("kv_pool_bytes", "--pool, measured")
        return per_stage(given, "pool")
    if not given.said("blocks"):
        return None
    if cache is None:  # which has its faults; the blocks have none
        return ()
    sizes = [stage.block_bytes for stage in cache.stage_caches]
    if any(size is None for size in sizes):
        given.usage.append("--blocks: blocks are not all alike in this model; give the bytes with --pool.")
        return None
    given.source("kv_pool_bytes", "--blocks, measured")
    return tuple(exactly(given.options["blocks"] * (size or 0), "--blocks") for size in sizes)
