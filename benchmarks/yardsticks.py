"""Fills and writes of the size that a case works on, and the ways to say a target."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from math import prod
from pathlib import Path
from typing import Any

import netCDF4
import numpy as np

from benchmarks.registry import Target, Timed, Yardstick
from sweep.engine.budget import THREADS
from sweep.engine.opening import Array
from sweep.units import grouped

FILL_ROUNDS = 5
UNIT_VALUES = 10**7


def fill(out: Array, value: int = 3) -> None:
    """One value into every element of an array, by as many threads as the engine has."""
    flat = out.reshape(-1)
    edges = [flat.size * i // THREADS for i in range(THREADS + 1)]
    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(lambda i: flat[edges[i] : edges[i + 1]].fill(value), range(THREADS)))


def touched_fill(out: Array) -> Yardstick:
    """Filling the very array that the case writes: its pages are there already."""
    return Yardstick("fill", "of", lambda: lambda: fill(out), least_rounds=FILL_ROUNDS)


def fresh_fill(shape: tuple[int, ...]) -> Yardstick:
    """Allocating and filling int64 values: the system's zeroing of fresh pages is part of it."""

    def action() -> None:
        fill(np.empty(prod(shape), dtype=np.int64))

    return Yardstick("fresh fill", "of", lambda: action, least_rounds=FILL_ROUNDS)


def unit_fill() -> Yardstick:
    """A fresh fill of 10^7 int64 values: a unit of this machine's speed for cases that write no array."""
    unit = fresh_fill((UNIT_VALUES,))
    return Yardstick("10^7 fill", "of", unit.prepare, least_rounds=FILL_ROUNDS)


def plain_write(mask: Callable[[], tuple[Array, list[int]]], path: Path) -> Yardstick:
    """Writing a ready mask with netCDF4 alone, with the settings and the chunks of a result."""

    def prepare() -> Timed:
        ready, chunks = mask()
        return lambda: write_plainly(path, ready, chunks)

    return Yardstick("netCDF4 write", "time", prepare)


def write_plainly(path: Path, mask: Array, chunks: list[int]) -> None:
    """The settings of a result: zlib 1, shuffle, checksums; each piece is one index of the first axis."""
    with netCDF4.Dataset(path, "w") as target:
        dims = [f"d{i}" for i in range(mask.ndim)]
        for dim, length in zip(dims, mask.shape, strict=True):
            target.createDimension(dim, length)
        storage: dict[str, Any] = {"zlib": True, "complevel": 1, "shuffle": True, "fletcher32": True}
        variable = target.createVariable("mask", "u2", dims, chunksizes=chunks, fill_value=False, **storage)
        variable.set_auto_maskandscale(False)
        for i in range(mask.shape[0]):
            variable[i] = mask[i]


def share_of(name: str, least: float) -> Target:
    """At least so much of a yardstick's speed."""
    return Target(name, least, f"≥ {least:g} of {name}")


def times_faster(name: str, least: float) -> Target:
    """At least so many times as fast as a peer."""
    return Target(name, least, f"≥ {least:g} × {name}")


def times_the_time(name: str, most: float) -> Target:
    """At most so many times the time of a yardstick."""
    return Target(name, 1 / most, f"≤ {most:g} × the time of {name}")


def seconds(most: float) -> Target:
    """At most so many seconds."""
    return Target("seconds", most, f"< {most:g} s", at_most=True)


def peak_megabytes(most: int) -> Target:
    """At most so many MB (10^6 bytes) of peak memory, interpreter and libraries included."""
    return Target("peak_bytes", most * 10**6, f"< {grouped(most)} MB", at_most=True)


def configurations_per_second(least: int) -> Target:
    """At least so many configurations a second."""
    return Target("configurations_per_second", least, f"≥ {least / 1e6:g} M configurations/s")
