"""Who is served next, and on which replica: plain functions by name. To add one, write it and enter it in its table."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeVar

from sweep.errors import UsageFault
from sweep.simulate.request import Request

Policy = Callable[[Request], int]
"""A request's place in the order of prefill and admission: the lowest first, of equal ones the earliest arrival. It is
asked once, when the request arrives."""

Router = Callable[[Sequence[int], int], int]
"""The replica, from 0, of a request, of the requests that each replica has unfinished and of the number of requests
routed before."""


def fifo(_: Request) -> int:
    """In the order of arrival."""
    return 0


def priority(request: Request) -> int:
    """By priority, the lowest number first."""
    return request.priority


def shortest_prompt(request: Request) -> int:
    """The shortest prompt first."""
    return request.prompt_tokens


def least_outstanding(unfinished: Sequence[int], _: int) -> int:
    """The replica with the fewest unfinished requests, of equal ones the first."""
    return unfinished.index(min(unfinished))


def round_robin(unfinished: Sequence[int], routed: int) -> int:
    """Each replica in turn."""
    return routed % len(unfinished)


POLICIES: Final[Mapping[str, Policy]] = {"priority": priority, "fifo": fifo, "shortest-prompt": shortest_prompt}
"""Policies by name, the default first."""

ROUTERS: Final[Mapping[str, Router]] = {"least-outstanding": least_outstanding, "round-robin": round_robin}
"""Routing rules by name, the default first."""

F = TypeVar("F", Policy, Router)


def named(what: str, given: str | F, table: Mapping[str, F]) -> tuple[str, F]:
    """A function and its name, of either.

    Raises:
        UsageFault: no function of the table has this name.
    """
    if not isinstance(given, str):
        return getattr(given, "__name__", "own"), given
    if given not in table:
        raise UsageFault(f"{what} {given!r}: wanted one of {', '.join(table)}; write one of them.")
    return given, table[given]
