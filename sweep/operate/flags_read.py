"""A launch line that somebody typed -> what it says; a shell's quoting is undone, nothing is run."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

from sweep.errors import UsageFault
from sweep.hardware.checks import ceil_of
from sweep.operate.flags import NAMES, Names
from sweep.operate.manifest import Manifest
from sweep.operate.manifest_check import Facts, Launch, Start, facts_of, judge_launch
from sweep.units import exact_decimal, grouped, parse_decimal, printable

MAX_LINE: Final = 100_000
"""Characters of a launch line; a shell takes about as many."""

_SHORT: Final[Mapping[str, str]] = {
    "-tp": "--tensor-parallel-size",
    "-pp": "--pipeline-parallel-size",
    "--tp": "--tp-size",
}
_PIPELINE: Final = frozenset(("--pipeline-parallel-size", "--pp-size"))
_BLOCKS: Final = "--num-gpu-blocks-override"
_WIDTHS: Final[Mapping[str, int]] = {
    "auto": 2,
    "bfloat16": 2,
    "bf16": 2,
    "float16": 2,
    "fp8": 1,
    "fp8_e4m3": 1,
    "fp8_e5m2": 1,
}
_TOKENS = re.compile(r"([0-9]{1,12})(?:\.([0-9]{1,6}))?([kKmM])?")
_THOUSANDS: Final[Mapping[str | None, int]] = {None: 1, "k": 10**3, "m": 10**6, "K": 2**10, "M": 2**20}


@dataclass(frozen=True)
class Flags:
    """What a launch line says.

    Attributes:
        engine: whose line it is.
        model: the model, None where the line has none.
        values: idea -> value: whole numbers, an exact `share`, texts for `revision` and `kv_dtype`; also `blocks`.
        unread: flags that are not read.
    """

    engine: str
    model: str | None
    values: Mapping[str, Any]
    unread: tuple[str, ...]


def parse_flags(line: str) -> Flags:
    """What a launch line of vLLM, SGLang or TensorRT-LLM says.

    A line of bare flags is vLLM's. Flags may have underscores for hyphens, an equals sign, and vLLM's `25.6k`.

    Raises:
        UsageFault: quotes that do not close, a flag twice, or a value that is none of its kind; all faults at once.
    """
    words = _words(line)
    engine = _engine(words)
    faults: list[str] = []
    found, model, unread = _scan(words, NAMES[engine], faults)
    values: dict[str, Any] = {}
    for idea, (flag, text) in found.items():
        try:
            values[idea] = _KINDS.get(idea, _tokens)(text)
        except ValueError as error:
            faults.append(f"--flags: {flag}: got {printable(text, 60) or 'nothing'}, wanted {error}; correct it.")
    if faults:
        raise UsageFault(faults)
    return Flags(engine, model, values, tuple(dict.fromkeys(unread)))


def _words(line: str) -> list[str]:
    if len(line) > MAX_LINE:
        raise UsageFault(f"--flags: a line of {grouped(len(line))} characters, wanted a launch line; shorten it.")
    try:
        words = shlex.split(line.replace("\\\r\n", " ").replace("\\\n", " "))
    except ValueError as error:
        raise UsageFault(f"--flags: no launch line ({str(error).lower()}); close its quotes.") from None
    if not words:
        raise UsageFault('--flags: is empty, wanted a launch line such as "vllm serve MODEL --max-num-seqs 64".')
    return words


def _engine(words: Sequence[str]) -> str:
    """Whose launcher the line calls, also inside a container's command; a line without one is vLLM's."""
    if any("sglang.launch_server" in word for word in words):
        return "sglang"
    return "tensorrt-llm" if any(word.rpartition("/")[2] == "trtllm-serve" for word in words) else "vllm"


def _scan(
    words: Sequence[str], names: Names, faults: list[str]
) -> tuple[dict[str, tuple[str, str]], str | None, list[str]]:
    """The flags that are read with their texts, the model, and the flags that are not read."""
    ideas = {_spelled(flag): idea for idea, flag in names.flags.items()}
    ideas |= {"--model": "model", "--model-path": "model", _BLOCKS: "blocks"}
    ideas |= dict.fromkeys(_PIPELINE, "pipeline_parallel")
    found: dict[str, tuple[str, str]] = {}
    model, unread, at = None, list[str](), 0
    while at < len(words):
        word, at = words[at], at + 1
        if not word.startswith("-"):
            before = words[at - 2].rpartition("/")[2] if at > 1 else ""
            if model is None and before in ("serve", names.start[-1]) and word != "serve":
                model = word
            continue
        flag, equals, text = word.partition("=")
        flag = _spelled(_SHORT.get(flag, flag))
        idea = ideas.get(flag)
        if idea is None:
            unread += [printable(flag, 60)] if flag not in ("-m", "--") else []
            continue
        if not equals:
            text, at = (words[at], at + 1) if at < len(words) and not words[at].startswith("--") else ("", at)
        if idea in found:
            faults.append(f"--flags: {flag} comes twice, engines take the last; give it once.")
        found[idea] = (flag, text)
    named = found.pop("model", None)
    return found, named[1] if named else model, unread


def _spelled(flag: str) -> str:
    return flag.replace("_", "-") if flag.startswith("--") else flag


def _tokens(text: str) -> int:
    """A whole number from 1 on; also `8k` (8 000), `8K` (8 192), as vLLM reads them."""
    match = _TOKENS.fullmatch(text)
    number = Fraction(0)
    if match:
        number = Fraction(int(match[1] + (match[2] or "")), 10 ** len(match[2] or "")) * _THOUSANDS[match[3]]
    if number < 1 or number.denominator != 1:
        raise ValueError("a whole number from 1 on")
    return number.numerator


def _share(text: str) -> Fraction:
    number = parse_decimal(text) if re.fullmatch(r"[0-9.]{1,60}", text) else None
    share = exact_decimal(number) if isinstance(number, Decimal) else None
    if share is None or not 0 < share <= 1:
        raise ValueError("a share above 0 and at most 1, such as 0.9")
    return share


def _word(text: str) -> str:
    if not text:
        raise ValueError("a value")
    return text


_KINDS: Final[Mapping[str, Callable[[str], Any]]] = {"share": _share, "revision": _word, "kv_dtype": _word}


def check_flags(flags: Flags, manifest: Manifest | None) -> Start:
    """Whether a launch line starts, on the memory and the mix of requests of a manifest.

    What the line leaves to the engine's own defaults is unknown, since those change with its version; only
    tensor-parallelism is 1 in all of them.

    Args:
        flags: the line.
        manifest: whose model, GPUs and requests it is launched with; None where nothing is known of them.
    """
    values, unknown = flags.values, list[str]()
    facts = None if manifest is None else _facts(values, manifest, unknown)
    steps, slots = values.get("tokens_per_step"), values.get("batch_slots")
    if steps is not None and slots is not None and not NAMES[flags.engine].step_has_slots:
        steps += slots  # a chunk alone
    launch = Launch(
        flags.engine, values.get("share"), slots, values.get("longest_sequence_tokens"), steps, values.get("blocks")
    )
    start = judge_launch(launch, facts)
    return replace(start, unknown=(*unknown, *start.unknown))


def _facts(values: Mapping[str, Any], manifest: Manifest, unknown: list[str]) -> Facts:
    """The facts of the manifest as the line changes them; what cannot be carried over is unknown."""
    facts = facts_of(manifest)
    if values.get("pipeline_parallel", 1) > 1:
        unknown.append("pipeline stages: the manifest's memory is of one stage; check them with `sweep memory`.")
    parallel = values.get("tensor_parallel", 1)
    if parallel != manifest.tensor_parallel:
        unknown.append(
            f"tensor parallelism {grouped(parallel)}: the manifest's memory is of "
            f"{grouped(manifest.tensor_parallel)}; give a manifest or a result with {grouped(parallel)}."
        )
    name, own = values.get("kv_dtype", "auto"), manifest.kv_bytes_per_value
    width = _WIDTHS.get(name)
    if width == own or (own is None and name == "auto"):
        return facts
    if width is None or not isinstance(own, int):
        unknown.append(f"KV dtype {printable(name, 40)}: its bytes per value are not known; give auto or fp8.")
        return facts
    # 2·layers·heads·head_dim·own is a whole number of bytes, so the conversion is exact up to its own rounding.
    return replace(facts, kv_bytes_per_token=ceil_of(Fraction(facts.kv_bytes_per_token * width, own)))
