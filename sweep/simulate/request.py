"""What arrives at a server."""

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from sweep.errors import InputFault
from sweep.records.bounds import CLASS_BOUNDS
from sweep.units import grouped, shown

NEVER: Final = -1
"""An instant that did not come: the first token of a refused request, say."""

_BOUNDS: Final = {
    "arrival_ns": (0, 2**63 - 1),
    "priority": CLASS_BOUNDS["priority"],
    "prompt_tokens": CLASS_BOUNDS["prompt_tokens"],
    "output_tokens": CLASS_BOUNDS["output_tokens"],
}


class Request(NamedTuple):
    """One request, as it arrives.

    Attributes:
        request_id: what its row is called; not looked at otherwise.
        arrival_ns: ns from the zero of the simulation, 0 to 2^63 − 1.
        class_id: its request class.
        priority: 1 to 1000, the lower the sooner.
        prompt_tokens: 1 to 10^7.
        output_tokens: that it will emit, 1 to 10^7.
        prefix_hashes: one for each whole block of hashed tokens of its prompt, from the first; equal hashes stand for
            equal prefixes. A hash of a last, partial block is left out.
    """

    request_id: int
    arrival_ns: int
    class_id: str
    priority: int
    prompt_tokens: int
    output_tokens: int
    prefix_hashes: tuple[int, ...] = ()


def checked(requests: Iterable[Request]) -> Iterator[Request]:
    """The requests one by one, each looked at before it is passed on.

    Raises:
        InputFault: a field that is no plain int within its bounds (a NumPy scalar would wrap), or an arrival before
            the previous one. Raised at the first faulty request: what came before it has been passed on.
    """
    earliest = 0
    for request in requests:
        arrival, prompt, output = request.arrival_ns, request.prompt_tokens, request.output_tokens
        plain = type(arrival) is type(prompt) is type(output) is type(request.priority) is int
        if not (plain and prompt > 0 and output > 0 and prompt <= 10**7 and output <= 10**7):
            raise InputFault(_faults(request))
        if not (earliest <= arrival < 2**63 and 1 <= request.priority <= 1000):
            raise InputFault(_faults(request, earliest))
        earliest = arrival
        yield request


def _faults(request: Request, earliest: int = 0) -> list[str]:
    """Every fault of a request as a sentence."""
    faults = []
    where = f"request {shown(request.request_id)}"
    for name, (lower, upper) in _BOUNDS.items():
        value = getattr(request, name)
        if type(value) is not int or not lower <= value <= upper:
            wanted = f"a plain int from {grouped(lower)} to {grouped(upper)}"
            faults.append(f"{where}: {name}: got {shown(value)}, wanted {wanted}; correct it.")
    if not faults:
        faults.append(
            f"{where}: arrival_ns: got {grouped(request.arrival_ns)} after {grouped(earliest)}, wanted arrivals in "
            "order; sort the requests."
        )
    return faults
