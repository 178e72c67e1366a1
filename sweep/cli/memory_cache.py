"""How the replica of `sweep memory` keeps its cache: the model, the widths, the stages."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from sweep.cli.memory_given import Given, note_faults, per_stage, read_width
from sweep.errors import RecordFault, SweepError
from sweep.units import shown

if TYPE_CHECKING:
    from sweep.hardware import Cache, CacheLayer, Width


def read_cache(given: Given) -> Cache | None:
    """How the replica keeps the cache; None, with the faults noted, where the options do not say."""
    from sweep.hardware import Cache, staged

    layers = _layers(given)
    key, value = _widths(given)
    counts = None if layers is None else _stage_counts(given, len(layers))
    asked = given.options["stage_layers"]
    given.stages = len(asked.split(",")) if asked is not None else given.options["pipeline_parallel"] or 1
    state_bytes = per_stage(given, "state_bytes")
    conv, state = _state_widths(given, layers)
    options = given.options
    if layers is None or key is None or value is None or counts is None or given.input or given.usage:
        return None
    given.source("block_tokens", "--block-tokens" if given.said("block_tokens") else "default")
    given.source("tensor_parallel", "--tensor-parallel" if given.said("tensor_parallel") else "default")
    try:
        return Cache(
            stages=staged(layers, counts),
            key=key,
            value=value,
            tensor_parallel=options["tensor_parallel"] or 1,
            block_tokens=options["block_tokens"] or 16,
            chunk_tokens=options["chunk"],
            conv_bytes_per_value=conv,
            state_bytes_per_value=state,
            state_bytes=None if state_bytes is None else tuple(amount.value for amount in state_bytes),
            state_blocks=options["state_blocks"] or 0,
        )
    except RecordFault as fault:
        note_faults(given, fault)
        return None


def _layers(given: Given) -> tuple[CacheLayer, ...] | None:
    from sweep.hardware import CacheLayer, read_model_config, uniform_layers

    options = given.options
    shape = ("layers", "kv_heads", "head_dim")
    ways = [name for name in ("model", "kv_bytes_per_token") if given.said(name)]
    ways += ["layers"] if any(given.said(name) for name in shape) else []
    if not ways and given.said("blocks"):
        given.bytes_known = False
        return (CacheLayer("full", 1, 1, 0),)
    if len(ways) != 1:
        three = "--model config.json, or --layers, --kv-heads and --head-dim, or --kv-bytes-per-token"
        given.usage.append(f"the model: got {len(ways)} descriptions, wanted one: {three}.")
        return None
    if ways == ["model"]:
        try:
            config = given.config = read_model_config(options["model"], options["dtype"], _kv_dtype(given) is None)
        except SweepError as error:
            given.input += error.faults
            return None
        given.sources |= {figure: f"config: {key}" for figure, key in config.sources.items()}
        given.notes += config.notes
        given.source("model", config.name + (f" ({config.model_type})" if config.model_type else ""))
        return config.layers
    if ways == ["kv_bytes_per_token"]:
        given.source("kv_bytes_per_token", "--kv-bytes-per-token, of one GPU")
        return (CacheLayer("full", 1, 1, 0),)
    missing = [f"--{name.replace('_', '-')}" for name in shape if not given.said(name)]
    if missing:
        given.usage.append(f"{', '.join(missing)}: missing, wanted beside the other numbers of the shape; add it.")
        return None
    given.sources |= {"layers": "--layers", "heads": "--kv-heads", "head_dim": "--head-dim"}
    given.source("kinds", "every layer keeps all tokens")
    return uniform_layers(options["layers"], options["kv_heads"], options["head_dim"])


def _kv_dtype(given: Given) -> str | None:
    """`--kv-dtype`, None where it leaves the type to the model's dtype."""
    text: str | None = given.options["kv_dtype"]
    return None if text is None or text.strip().lower() == "auto" else text


def _widths(given: Given) -> tuple[Width | None, Width | None]:
    """How wide keys and values are."""
    from sweep.hardware import Width

    options, config = given.options, given.config
    if not given.bytes_known:
        return Width("unknown", Fraction(1)), Width("unknown", Fraction(1))
    if given.said("kv_bytes_per_token"):
        given.usage += [
            f"--{name}: goes with a shape, and --kv-bytes-per-token says all of it; leave one out."
            for name in ("dtype", "kv-dtype")
            if given.said(name.replace("-", "_"))
        ]
        raw = Width("given", Fraction(options["kv_bytes_per_token"]))
        return raw, raw
    text = _kv_dtype(given)
    if text is not None:
        key, colon, value = text.partition(":")
        given.source("kv_width", f"--kv-dtype {text}")
        return read_width(given, "--kv-dtype", key), read_width(given, "--kv-dtype", value if colon else key)
    dtype = options["dtype"] or (config.dtype if config else None)
    if dtype is None:
        if not given.said("model"):  # a config without one has its fault already
            given.usage.append("--dtype or --kv-dtype: missing, and the width of the cache is not guessed; give one.")
        return None, None
    stated = f"config: {config.dtype_key}" if config and not options["dtype"] else "--dtype"
    given.source("kv_width", f"{stated} {dtype}")
    width = read_width(given, "--dtype", dtype)
    return width, width


def _state_widths(given: Given, layers: Sequence[CacheLayer] | None) -> tuple[Fraction | None, Fraction | None]:
    """Bytes per value of the convolution's and of the recurrent state."""
    options, config = given.options, given.config
    if given.said("state_bytes") or given.said("state_blocks"):
        given.source("state", "--state-bytes" if given.said("state_bytes") else "--state-blocks")
        return None, None
    if config is None or layers is None:
        return None, None
    if config.unknown_states:
        given.input.append(
            f"{config.name}: {config.unknown_states} layers are recurrent, in no form whose state is known; give"
            " --state-bytes, those of one request."
        )
        return None, None
    states = [layer.state for layer in layers if layer.state is not None]
    if not states:
        return None, None
    text = options["state_dtype"] or config.state_dtype
    dtype = options["dtype"] or config.dtype
    if text is None or dtype is None:
        given.input.append(
            f"{config.name}: {len(states)} layers keep a recurrent state whose width is not stated; give --state-dtype"
            " (float32, bf16), and --dtype where the file has none, or --state-bytes."
        )
        return None, None
    stated = "--state-dtype" if given.said("state_dtype") else given.sources["state_dtype"]
    given.source("state", f"{stated} {text}; the convolution's in {dtype}")
    conv, state = read_width(given, "--dtype", dtype), read_width(given, "--state-dtype", text)
    if conv is None or state is None:
        return None, None
    return conv.bytes_per_value, state.bytes_per_value


def _stage_counts(given: Given, layers: int) -> tuple[int, ...] | None:
    """Layers of each pipeline stage."""
    from sweep.hardware import stage_counts

    options = given.options
    stages, text = options["pipeline_parallel"], options["stage_layers"]
    if text is not None:
        parts = [part.strip() for part in text.split(",")]
        if not all(part.isascii() and part.isdigit() and len(part) < 7 and int(part) for part in parts):
            given.usage.append(
                f"--stage-layers: got {shown(text)}, wanted layers per stage with commas, such as 16,32."
            )
            return None
        if stages is not None and stages != len(parts):
            given.usage.append(
                f"--stage-layers: got {len(parts)} stages, --pipeline-parallel says {stages}; correct one."
            )
            return None
        given.source("stages", "--stage-layers")
        return tuple(int(part) for part in parts)
    if stages is None or stages == 1:
        return (layers,)
    if given.said("kv_bytes_per_token") or stages > layers:
        given.usage.append(f"--pipeline-parallel: got {stages} stages for {layers} layers; lower it, or give a shape.")
        return None
    counts = stage_counts(layers, stages, options["engine"])
    if counts is None:
        given.usage.append(
            f"--pipeline-parallel: {stages} stages do not divide {layers} layers, and engines deal the rest in"
            " different ways; give --stage-layers."
        )
        return None
    given.source("stages", "--pipeline-parallel" + ("" if layers % stages == 0 else ", dealt as vLLM does"))
    return counts
