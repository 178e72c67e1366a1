"""The share of a GPU's memory that an engine may use: three engines, three denominators, one conversion by bytes."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from sweep.hardware.checks import ceil_of, floor_of
from sweep.units import UnitError


@dataclass(frozen=True)
class Engine:
    """What an engine calls its share of memory, and what it is a share of.

    Attributes:
        name: as an option takes it.
        title: as people write it.
        flag: the engine's own name of the share.
        of: what the share is taken of and what it covers, for a ledger.
    """

    name: str
    title: str
    flag: str
    of: str


ENGINES: Final[Mapping[str, Engine]] = {
    engine.name: engine
    for engine in (
        Engine("vllm", "vLLM", "gpu_memory_utilization", "of total, for everything"),
        Engine("sglang", "SGLang", "mem_fraction_static", "of total, for weights and KV"),
        Engine(
            "tensorrt-llm", "TensorRT-LLM", "kv_cache_free_gpu_memory_fraction", "of what is free after loading, for KV"
        ),
    )
}

_SHARE = re.compile(r"([0-9]{1,3})?(?:\.([0-9]{1,30}))? *(%|‰)?")
_RATIO = re.compile(r"([0-9]{1,9})/([1-9][0-9]{0,8})")


def share_of(text: str) -> Fraction:
    """The share that a text says, exactly, above 0 and at most 1.

    Args:
        text: a decimal (`0.9`), per cent or per mille (`90 %`, `900 ‰`), or a ratio (`9/10`).

    Raises:
        UnitError: none of these, or outside; the message is what to do.

    >>> share_of("0.9"), share_of("92.5 %"), share_of("925‰")
    (Fraction(9, 10), Fraction(37, 40), Fraction(37, 40))
    """
    plain = text.strip()
    ratio = _RATIO.fullmatch(plain)
    match = None if ratio else _SHARE.fullmatch(plain)
    if ratio:
        share = Fraction(int(ratio[1]), int(ratio[2]))
    elif match and (match[1] or match[2]):
        digits = match[2] or ""
        number = Fraction(int((match[1] or "") + digits), 10 ** len(digits))
        share = number * {None: Fraction(1), "%": Fraction(1, 100), "‰": Fraction(1, 1_000)}[match[3]]
    else:
        raise UnitError("write a share such as 0.9, 90 % or 900 ‰")
    if not 0 < share <= 1:
        raise UnitError("a share is above 0 and at most 1; write 0.9, 90 % or 900 ‰")
    return share


@dataclass(frozen=True)
class StageBytes:
    """The memory of one pipeline stage, all its GPUs together, before the cache.

    Attributes:
        gpus: GPUs of the stage.
        memory_bytes: of one GPU.
        weight_bytes: of the whole stage.
        other_bytes: of one GPU: activations, overhead and what is reserved.
    """

    gpus: int
    memory_bytes: int
    weight_bytes: int
    other_bytes: int

    def budget_bytes(self, engine: str, share: Fraction) -> int | None:
        """The engine's share of the memory, in whole bytes per GPU; None where it is a share of something else."""
        return None if engine == "tensorrt-llm" else self.gpus * floor_of(self.memory_bytes * share)

    def remainder_bytes(self, engine: str, share: Fraction) -> int:
        """What an engine's share leaves for the cache of the stage, in bytes; negative where it does not fit."""
        budget = self.budget_bytes(engine, share)
        if budget is None:
            free = self.gpus * (self.memory_bytes - self.other_bytes) - self.weight_bytes
            return free if free < 0 else self.gpus * floor_of(Fraction(free, self.gpus) * share)
        return budget - self.weight_bytes - (self.gpus * self.other_bytes if engine == "vllm" else 0)

    def outside_short_bytes(self, engine: str, share: Fraction) -> int:
        """Bytes by which what stands outside of the engine's share does not fit, on all GPUs; 0 where it does.

        Only SGLang's share leaves activations, overhead and reserved bytes outside.
        """
        if engine != "sglang":
            return 0
        outside = self.memory_bytes - floor_of(self.memory_bytes * share)
        return self.gpus * max(0, self.other_bytes - outside)

    def share_for(self, engine: str, pool_bytes: int) -> Fraction | None:
        """A share by which an engine comes to a pool of so many bytes; None where no share does.

        The shortest decimal of at most four places that gives it to the byte, else the exact ratio: a share is rounded
        down to whole bytes, so several give the same.
        """
        total = self.gpus * self.memory_bytes
        free = total - self.gpus * self.other_bytes - self.weight_bytes
        if engine == "tensorrt-llm":
            over, under = pool_bytes, free
        else:
            others = self.gpus * self.other_bytes if engine == "vllm" else 0
            over, under = pool_bytes + self.weight_bytes + others, total
        if not 0 < over <= under or pool_bytes > free:
            return None
        exact = Fraction(over, under)
        for places in (10, 100, 1_000, 10_000):
            decimal = Fraction(ceil_of(exact * places), places)
            if self.remainder_bytes(engine, decimal) == pool_bytes:
                return decimal
        return exact
