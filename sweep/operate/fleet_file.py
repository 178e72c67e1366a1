"""The JSON that `sweep fleet -o` and `sweep autoscale -o` write, read again by `sweep autoscale` and `sweep cost`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

from sweep.calibrate.documents import objects_of, value_at
from sweep.calibrate.fields import MOST, Faults
from sweep.calibrate.source import name_of, read_text
from sweep.errors import InputFault
from sweep.operate.fleet_serving import Serving
from sweep.units import grouped, shown

KIND: Final = "sweep_file"
FLEET: Final = "fleet"
AUTOSCALE: Final = "autoscale"
VERSION: Final = 1

_RATIO = re.compile(r"([0-9]{1,200}(?:\.[0-9]{1,60})?)(?:/([0-9]{1,200}))?")


def is_serving_file(path: Path) -> bool:
    """Whether a file is JSON, as `sweep fleet -o` and `sweep autoscale -o` write it."""
    return path.suffix == ".json"


def read_document(path: str | Path) -> dict[str, Any]:
    """The document that `sweep fleet` or `sweep autoscale` wrote.

    Raises:
        InputFault: no such file, or another document.
    """
    name, text = name_of(path), read_text(path)
    objects = objects_of(text, name) if text.lstrip()[:1] in ("{", "[") else []
    raw = dict(objects[0].raw) if len(objects) == 1 else {}
    if raw.get(KIND) not in (FLEET, AUTOSCALE):
        wanted = "what `sweep fleet -o` or `sweep autoscale -o` wrote"
        raise InputFault(f"{name}: is no fleet, wanted {wanted}; write one, or give the grid or result itself.")
    if raw.get("version") != VERSION:
        raise InputFault(f"{name}: has version {shown(raw.get('version'))}, wanted {VERSION}; write it anew.")
    return raw


def serving_from(raw: Mapping[str, Any], name: str) -> Serving:
    """The replica that a document carries.

    Raises:
        InputFault: it has none (the fleet does not carry its traffic), or a figure is wrong; every fault at once.
    """
    own = raw.get("serving")
    if not isinstance(own, Mapping):
        raise InputFault(f"{name}: has no fleet that carries its traffic; write one that has.")
    faults = Faults(name)
    ratios = {key: _ratio(own, key, faults) for key in ("replica_rps", "prompt_tokens", "output_tokens")}
    price = None if own.get("price_per_gpu_hour") is None else _ratio(own, "price_per_gpu_hour", faults, least=True)
    gpus = _count(own, "gpus_per_replica", 10**4, faults)
    replicas = None if own.get("replicas") is None else _count(own, "replicas", 2 * 10**6, faults)
    share = None if own.get("prefill_share_permille") is None else _count(own, "prefill_share_permille", 999, faults)
    faults.raise_if_any()
    return Serving(
        str(own.get("name", name)),
        ratios["replica_rps"],
        gpus,
        ratios["prompt_tokens"],
        ratios["output_tokens"],
        share,
        price,
        replicas,
        str(own.get("gpu", "")),
    )


def ratio_of(value: object) -> Fraction | None:
    """The number of an exact ratio text, `4356/375` or `2.33`, from 0 to 10^15; None for anything else."""
    match = _RATIO.fullmatch(value) if isinstance(value, str) else None
    if match is None or (match[2] is not None and not int(match[2])):
        return None
    found = Fraction(match[1]) / int(match[2] or 1)
    return found if found <= MOST else None


def _ratio(raw: Mapping[str, Any], key: str, faults: Faults, least: bool = False) -> Fraction:
    """An exact ratio above 0 (or from 0 on); 1 after a fault."""
    found = ratio_of(value_at(raw, [key]))
    if found is not None and (found or least):
        return found
    got = shown(value_at(raw, [key]))
    faults.add(f"serving.{key}", f"got {got}, wanted an exact ratio such as 4356/375; write the file anew")
    return Fraction(1)


def _count(raw: Mapping[str, Any], key: str, most: int, faults: Faults) -> int:
    value = value_at(raw, [key])
    if type(value) is int and 1 <= value <= most:
        return value
    faults.add(f"serving.{key}", f"got {shown(value)}, wanted 1 to {grouped(most)}; write the file anew")
    return 1
