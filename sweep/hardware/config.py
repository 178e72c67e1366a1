"""A Hugging Face `config.json` -> what its layers keep of a request, with the key that each figure came from."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from sweep.errors import InputFault
from sweep.hardware.attention import Layers, layers_of
from sweep.hardware.document import MAX_CONFIG_BYTES, read_object
from sweep.hardware.families import class_defaults, text_type
from sweep.hardware.keys import ConfigKeys, read_keys
from sweep.hardware.kinds import NotRead
from sweep.hardware.layers import CacheLayer
from sweep.hardware.parameters import Parameters, parameters_of
from sweep.hardware.refusals import refusals
from sweep.hardware.widths import BYTES_PER_VALUE
from sweep.units import printable, shown

WHAT: Final = "a model's config.json"

_NESTED = ("text_config", "llm_config", "language_config", "thinker_config")
"""Keys under which configs of several models in one keep the text model."""

_QUANTIZED: Final = ("quantization_config", "compression_config")
_LENGTHS = ("max_position_embeddings", "n_positions", "max_seq_len", "seq_length")
_SHARED = ("num_hidden_layers", "num_attention_heads", "num_key_value_heads", "head_dim", "hidden_size")
_FLOATS = frozenset(name for name, size in BYTES_PER_VALUE.items() if size in (2, 4))


@dataclass(frozen=True)
class ModelConfig:
    """What a config tells of the cache.

    Attributes:
        name: the file.
        model_type: of the text model; "" where it is not stated.
        layers: every layer in order.
        dtype: of the weights and, unless told otherwise, of the cache; None where it is not stated.
        dtype_key: the key that states it.
        kv_dtype_open: why the type of the cache does not follow from the file, and what to do; "" where it does.
        state_dtype: of the recurrent state, where it is stated.
        unknown_states: recurrent layers whose state is in no form that is known, so that its bytes must be given.
        longest_tokens: the longest sequence that the model was made for; None where it is not stated.
        quantization: the key that says that the weights are quantized, and how; "" where none does.
        parameters: how many it has; None where the file does not determine it exactly.
        sources: figure (`layers`, `heads`, `head_dim`, `kinds`, …) -> the keys that gave it.
        notes: what a reader should know, one sentence each.
    """

    name: str
    model_type: str
    layers: tuple[CacheLayer, ...]
    dtype: str | None
    dtype_key: str
    kv_dtype_open: str
    state_dtype: str | None
    unknown_states: int
    longest_tokens: int | None
    quantization: str
    parameters: Parameters | None
    sources: Mapping[str, str]
    notes: tuple[str, ...]


def read_model_config(path: str | Path, dtype: str | None = None, for_cache: bool = False) -> ModelConfig:
    """What a model's `config.json` tells of its cache.

    Args:
        path: the file, as model hubs publish it.
        dtype: what the caller says that the model is served in, whatever the file states.
        for_cache: whether it is a fault that the type of the cache does not follow.

    Raises:
        InputFault: the file is no such config, does not say what is needed, or describes what the arithmetic of a
            cache cannot express; every fault at once.
    """
    name = printable(str(path), 160)
    return parse_model_config(read_object(Path(path), MAX_CONFIG_BYTES, WHAT), name, dtype, for_cache)


def parse_model_config(
    raw: Mapping[str, Any], name: str = "config", dtype: str | None = None, for_cache: bool = False
) -> ModelConfig:
    """The same of a parsed object; see `read_model_config`.

    Args:
        raw: the object; decimals are `Decimal`, never float.
        name: how messages call the file.
        dtype, for_cache: as above.

    Raises:
        InputFault: as above.
    """
    faults: list[str] = []
    text, path = _text_model(raw, name, faults)
    where = f"{name}: {path}"
    nested = text is not raw
    model_type = text_type(raw, text)
    defaults, open_keys = class_defaults(text, model_type)
    if nested and model_type is not None:
        text = {**text, "model_type": model_type}
    keys = read_keys({**text, **defaults}, where, faults)
    sound = not faults
    refused = refusals(text, keys, where) + [f"{where}{fault}" for fault in open_keys]
    if nested and raw.get("is_encoder_decoder"):
        refused += refusals({"is_encoder_decoder": True}, ConfigKeys(), f"{name}: ")
    wrong: list[str] = []
    stated, dtype_key = _dtype(raw, text if nested else raw, path, name, wrong)
    kv_dtype_open = _kv_dtype_open(raw, text, dtype or stated)
    if for_cache and kv_dtype_open and not wrong:
        wrong = [f"{name}: {kv_dtype_open}."]
    found = Layers((), {}, 0)
    if sound and not refused:
        try:
            found = layers_of(keys)
        except NotRead as missing:
            faults.append(f"{where}{missing}.")
    faults += [*refused, *wrong]
    if faults:
        raise InputFault(dict.fromkeys(faults))
    longest, state_dtype = keys.first(*_LENGTHS), keys.first("mamba_ssm_dtype", "mamba_ssm_cache_dtype")
    sources = _sources(found, longest, state_dtype, defaults, model_type)
    return ModelConfig(
        name=name,
        model_type=keys.model_type or "",
        layers=found.layers,
        dtype=stated,
        dtype_key=dtype_key,
        kv_dtype_open=kv_dtype_open,
        state_dtype=None if state_dtype is None else state_dtype[1],
        unknown_states=found.unknown_states,
        longest_tokens=None if longest is None else longest[1],
        quantization=_quantization(raw, text),
        parameters=None if path else parameters_of(raw),  # of a text model beside others only a part is served
        sources={figure: path + source for figure, source in sources.items()},
        notes=tuple(_notes(keys, dtype or stated)),
    )


def _text_model(raw: Mapping[str, Any], name: str, faults: list[str]) -> tuple[Mapping[str, Any], str]:
    """The object that describes the text model, and its path with a joint."""
    found, path = raw, ""
    for _ in range(4):
        inner = [key for key in _NESTED if isinstance(found.get(key), Mapping)]
        if not inner:
            break
        if len(inner) > 1:
            faults.append(
                f"{name}: {path}has {' and '.join(inner)}, wanted one text model; keep the one that is served."
            )
        outer, found, path = found, found[inner[0]], f"{path}{inner[0]}."
        for key in _SHARED:
            if outer.get(key) is not None and found.get(key) is not None and outer[key] != found[key]:
                differ = f"{shown(outer[key])} outside and {shown(found[key])} inside of {path[:-1]}"
                faults.append(f"{name}: {key}: got {differ}, wanted one value; correct the one or the other.")
    return found, path


def _sources(
    found: Layers,
    longest: tuple[str, Any] | None,
    state_dtype: tuple[str, Any] | None,
    defaults: Mapping[str, object],
    model_type: str | None,
) -> dict[str, str]:
    """Figure -> the key that gave it, and whether the class filled it in."""
    sources = dict(found.sources)
    for figure, stated in (("longest", longest), ("state_dtype", state_dtype)):
        if stated is not None:
            sources[figure] = stated[0]
    for figure, source in sources.items():
        if source.split(":")[0].split(" ")[0] in defaults:
            sources[figure] = f"{source} (class default of {model_type})"
    for key, kind in (("sliding_window", "sliding"), ("attention_chunk_size", "chunked")):
        if key in defaults and any(layer.kind == kind for layer in found.layers):
            sources["kinds"] += f"; {key} {defaults[key]}, class default of {model_type}"
    return sources


def _quantization(raw: Mapping[str, Any], text: Mapping[str, Any]) -> str:
    """The key that says that the weights are quantized, and its method; "" where there is none."""
    for found in (text, raw):
        for key in _QUANTIZED:
            scheme = found.get(key)
            if not scheme:
                continue
            method = None
            if isinstance(scheme, Mapping):
                method = next((scheme[name] for name in ("quant_method", "quant_algo") if scheme.get(name)), None)
            return f"{key} ({printable(method, 40)})" if isinstance(method, str) else key
    return ""


def _dtype(
    raw: Mapping[str, Any], text: Mapping[str, Any], path: str, name: str, faults: list[str]
) -> tuple[str | None, str]:
    """The dtype that the config states, and the key; None where it states none."""
    places = [(path, text)] if text is raw else [(path, text), ("", raw)]
    stated = {
        f"{prefix}{key}": found[key]
        for prefix, found in places
        for key in ("dtype", "torch_dtype")
        if isinstance(found.get(key), str) and found[key] != "auto"
    }
    plain = {key: value.strip().lower().removeprefix("torch.") for key, value in stated.items()}
    if len(set(plain.values())) > 1:
        both = " and ".join(f"{key} {shown(value)}" for key, value in stated.items())
        faults.append(f"{name}: got {both}, wanted one dtype; correct the one or the other, or take them out.")
    for key, value in plain.items():
        if value not in BYTES_PER_VALUE:
            known = "bfloat16, float16 or float32"
            faults.append(f"{name}: {key}: got {shown(stated[key])}, wanted a dtype such as {known}; correct it.")
    return (None, "") if not plain else (next(iter(plain.values())), next(iter(plain)))


def _kv_dtype_open(raw: Mapping[str, Any], text: Mapping[str, Any], dtype: str | None) -> str:
    """Why the type of the cache does not follow from the dtype, as the middle of a sentence."""
    for found in (text, raw):
        for key in _QUANTIZED:
            scheme = found.get(key)
            if not isinstance(scheme, Mapping):
                continue
            inner = scheme.get("quantization")
            for place in (scheme, inner if isinstance(inner, Mapping) else {}):
                for name in ("kv_cache_scheme", "kv_cache_quant_algo"):
                    if place.get(name):
                        return f"{key} has a {name}, which an engine may follow or not; give --kv-dtype"
    if dtype is None:
        return "states no dtype, and the width of the cache is not guessed; give --dtype (bf16, fp16) or --kv-dtype"
    if dtype not in _FLOATS:
        return f"the dtype is {dtype}, which engines do not use for the cache unasked; give --kv-dtype"
    return ""


def _notes(keys: ConfigKeys, dtype: str | None) -> list[str]:
    notes = []
    drafts = keys.first("num_nextn_predict_layers", "num_mtp_modules", "mtp_num_hidden_layers")
    if drafts is not None and drafts[1]:
        notes.append(
            f"{drafts[0]} {drafts[1]}: layers that draft tokens are not counted; an engine that runs them caches them "
            "too."
        )
    if dtype in ("float32", "fp32", "float"):
        notes.append(
            "The dtype is float32, 4 bytes; an engine that serves it in 2 (vLLM's auto) needs --dtype float16."
        )
    return notes
