"""What must be known of a machine to read a measurement; nothing that names it, a person or a time."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

_LIBRARIES = ("numpy", "xarray", "netCDF4", "numba", "numexpr")
_PROCESSORS = Path("/proc/cpuinfo")


def facts() -> dict[str, Any]:
    """Versions, cores and memory, with stable keys."""
    return {
        "python": platform.python_version(),
        "libraries": {name: found for name in _LIBRARIES if (found := _version(name))},
        "system": platform.system(),
        "architecture": platform.machine(),
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "memory_gib": _memory_gib(),
    }


def sentence(machine: Mapping[str, Any]) -> str:
    """The same in one line."""
    libraries = ", ".join(f"{name} {found}" for name, found in machine["libraries"].items())
    kind = machine["processor"] or machine["architecture"]
    memory = f", {machine['memory_gib']} GiB" if machine["memory_gib"] else ""
    return (
        f"{machine['cores']} cores ({kind}, {machine['architecture']}{memory}), {machine['system']}, "
        f"Python {machine['python']}, {libraries}"
    )


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _processor() -> str | None:
    if not _PROCESSORS.exists():
        return None
    names = [line.partition(":")[2].strip() for line in _PROCESSORS.read_text().splitlines() if "model name" in line]
    return names[0].replace("(R)", "").replace("(TM)", "") if names else None


def _memory_gib() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**30
    except (AttributeError, OSError, ValueError):
        return None
