"""The memory of the replica of `sweep init`: as `sweep memory` reckons it, the example's where options are missing."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sweep.cli.init_given import Gathered

if TYPE_CHECKING:
    from sweep.cli.memory_given import Given
    from sweep.draft.parts import Memory, Traffic

SHARED = (
    "model",
    "layers",
    "kv_heads",
    "head_dim",
    "dtype",
    "kv_dtype",
    "block_tokens",
    "gpu",
    "memory",
    "engine",
    "utilization",
    "weights",
    "parameters",
    "weight_dtype",
    "activations",
    "overhead",
    "reserved",
    "tensor_parallel",
    "max_sequence",
)
"""Options that mean what they mean to `sweep memory`."""

_SHAPE = ("layers", "kv_heads", "head_dim")
_OF_MODEL = ("weights", "parameters", "weight_dtype", "active_parameters")
DEFAULT_UTILIZATION = "0.9"

_NO_OPTION = (
    ("give --kv-bytes-per-token, or --layers", "give --layers"),
    (", or --kv-bytes-per-token", ""),
    (", or a measured --pool", ""),
    ("give one for each of the stages", "give one"),
)
"""What sentences of `sweep memory` name and this command does not have -> what stands here."""


def read_memory_part(given: Gathered, traffic: Traffic | None) -> Memory | None:
    """`[model]` and `[gpu]` of a grid; None, with its faults noted, where the options do not make one.

    Args:
        given: the options.
        traffic: whose longest class a grid counts too, beside the longest sequence; None where it has faults.
    """
    from sweep.draft.example import example_memory

    if not any(given.said(name) for name in (*SHARED, "active_parameters")):
        return example_memory()
    before = len(given.usage), len(given.input)
    found = given.attempt(lambda: _reckoned(given, traffic))
    for faults, start in zip((given.usage, given.input), before, strict=True):
        faults[start:] = [_worded(fault) for fault in faults[start:]]
    return found


def _worded(fault: str) -> str:
    for old, new in _NO_OPTION:
        fault = fault.replace(old, new)
    return fault


def _reckoned(given: Gathered, traffic: Traffic | None) -> Memory:
    from sweep.cli.memory import longest_tokens, memory, reckon
    from sweep.cli.memory_given import Given
    from sweep.draft.memory import allowance_notes, memory_part
    from sweep.draft.parts import Memory
    from sweep.hardware import gpu_of

    options: dict[str, Any] = {param.name: None for param in memory.params if param.name is not None}
    options |= {name: given.options[name] for name in SHARED}
    options["engine"] = options["engine"] or "vllm"
    described = given.said("model") or any(given.said(name) for name in _SHAPE)
    if not described:
        given.only_with(_OF_MODEL, "--model")
    gaps = _filled(options, described)
    options["chunk"] = 1  # a window that does not bind beside so small a chunk binds beside none
    account = Given(options)
    try:
        _, _, ledger, stage, lengths = reckon(account)
    finally:  # known of the model whatever else is wrong
        given.longest_tokens = longest_tokens(account)
    assert ledger is not None  # the GPU is always given
    assert stage is not None  # likewise, and never a measured pool
    _mark_defaults(given, account, options, described)
    missing = [] if not described else [key for key, said in account.sources.items() if said == "not given, so 0"]
    notes = [*account.notes, *allowance_notes(missing)]
    if stage.rounded:
        notes.append("Amounts with a tilde are taken as a log prints them, rounded.")
    counted, counted_from = _parameters(given, account, options, stage.plain().weight_bytes)
    gpu = None if options["gpu"] is None else gpu_of(options["gpu"])
    model, on = _names(account, gpu.name if gpu else "GPU", options["tensor_parallel"] or 1, described)
    known = Memory(
        (),
        "",
        gaps,
        notes,
        name=f"{model} on {on}",
        gpu=gpu,
        parameters=counted,
        parameters_from=counted_from,
        fp8=_is_fp8(account, options),
        longest_tokens=lengths[0],
    )
    longest = lengths[0]
    if longest is not None and traffic is not None:  # a grid counts every token of its classes
        longest = max(longest, traffic.whole_tokens)
    return memory_part(ledger, stage, longest, account.sources, known)


def _filled(options: dict[str, Any], described: bool) -> list[str]:
    """Put the example's GPU and model in the place of what is not given, and say so."""
    from sweep.draft import example

    gaps = []
    if options["gpu"] is None and options["memory"] is None:
        options["gpu"] = example.GPU
        gaps.append(example.GPU_GAP)
    if options["utilization"] is None:
        options["utilization"] = DEFAULT_UTILIZATION
    if not described:
        options |= {name: example.figure(f"model.{name}") for name in _SHAPE}
        options["dtype"] = options["dtype"] or example.DTYPE
        options["parameters"] = example.parameters()
        options["weights"] = options["weight_dtype"] = None
        for name, key in (("activations", "activation_bytes"), ("overhead", "framework_overhead_bytes")):
            options[name] = options[name] or str(example.figure(f"gpu.{key}"))
        gaps.append(example.MODEL_GAP)
    return gaps


def _mark_defaults(given: Gathered, account: Given, options: Mapping[str, Any], described: bool) -> None:
    """Say of each figure that no option gave where it came from."""
    from sweep.units import grouped

    if not given.said("utilization"):
        flag = account.sources["share"].partition(": ")[2]
        account.source("share", f"default, {options['utilization']}: {flag}")
    if not given.said("gpu") and not given.said("memory"):
        account.source("memory_bytes", f"the example's, since no --gpu is given: {account.sources['memory_bytes']}")
    if described:
        return
    open_width = not (given.said("kv_dtype") or given.said("dtype"))
    for figure in ("layers", "heads", "head_dim", *(["kv_width"] if open_width else [])):
        account.source(figure, "the example's, since no --model is given")
    weights = f"{grouped(options['parameters'])} parameters in {options['dtype']}"
    account.source("weight_bytes", f"the example's, since no --model is given: {weights}")
    for figure, name in (("activation_bytes", "activations"), ("framework_overhead_bytes", "overhead")):
        if not given.said(name):
            account.source(figure, f"the example's allowance, since no --{name} is given")


def _parameters(
    given: Gathered, account: Given, options: Mapping[str, Any], weight_bytes: object
) -> tuple[int | None, str]:
    """How many parameters a token passes, and where the number came from; None where nobody says."""
    from sweep.hardware import width_of

    config = account.config
    derived = config.parameters if config else None
    if given.said("active_parameters"):
        return given.options["active_parameters"], "--active-parameters"
    if derived is not None and derived.active < derived.total:
        return derived.active, f"those of the config that one token passes, as {derived.family} counts them"
    if options["parameters"] is not None:
        said = "--parameters" if given.said("parameters") else "the example's"
        return options["parameters"], said
    if derived is not None:
        return derived.total, f"of the config, as {derived.family} counts them"
    dtype = options["dtype"] or (config.dtype if config else None)
    if config is not None and config.quantization:  # whose bytes are not in that dtype
        return None, ""
    if dtype is None or not isinstance(weight_bytes, int):
        return None, ""
    width = width_of(dtype).bytes_per_value
    count = -(-weight_bytes * width.denominator // width.numerator)
    return (
        count,
        f"the bytes of the weights as {dtype}; --active-parameters says it better of quantized weights and of experts",
    )


def _is_fp8(account: Given, options: Mapping[str, Any]) -> bool:
    """Whether the weights are in fp8, so that the GPU computes in it."""
    if options["weights"] is not None:
        return False
    stated = options["weight_dtype"] or options["dtype"] or (account.config.dtype if account.config else None) or ""
    return stated.strip().lower().removeprefix("torch.").startswith(("fp8", "float8"))


def _names(account: Given, gpu: str, gpus: int, described: bool) -> tuple[str, str]:
    """How the grid calls its model and its GPUs; of a path only the file's name, since grids go into results."""
    from sweep.draft import example
    from sweep.units import grouped, printable

    on = f"one {gpu}" if gpus == 1 else f"{grouped(gpus)} × {gpu}"
    if not described:
        return example.MODEL, on
    if account.config is None:
        return "a model", on
    stem = re.sub(r"(?i)(^|[._-])config\.json$|\.json$", "", Path(str(account.options["model"])).name)
    return printable(stem or account.config.model_type or "a model", 80), on
