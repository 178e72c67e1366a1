"""How the grid room says that something is wrong: one regular sentence per fault, all faults at once.

A sentence says where (`contract.max_ttft_ms`, or the command line option), what came, what is wanted, and
what to do next. A message is data from a stranger's file on a terminal, so places and values are made
printable and short.
"""

import difflib
from collections.abc import Iterable, Mapping, Sequence

from sweep.errors import InputFault, RefusedSize
from sweep.units import grouped, printable, shown

MOST_REPORTED = 200
"""Faults beyond this many are counted, not described: a hostile file must not cost hours of `difflib`."""


class FieldError(ValueError):
    """A value that a field does not take; whoever knows the place turns it into a sentence.

    Attributes:
        value: what came.
        wanted: what the field takes.
        advice: what to do next.
    """

    def __init__(self, value: object, wanted: str, advice: str) -> None:
        self.value, self.wanted, self.advice = value, wanted, advice
        super().__init__(f"got {shown(value)}, wanted {wanted}; {advice}")


def nearest(key: str, known: Sequence[str]) -> str:
    """The known name that is most like a key; `known` is not empty."""
    return difflib.get_close_matches(key[:120], known, n=1, cutoff=0.0)[0]


class Faults:
    """Collects the faults of one document; `origins` names the option that a place was given by.

    Attributes:
        origins: place in the file -> `--set …` or `--axis …`, where the command line gave that place's value.
    """

    def __init__(self, origins: Mapping[str, str]) -> None:
        self.origins = origins
        self._sentences: list[str] = []
        self._count = self._dropped = 0
        self._only_sizes = True

    def __len__(self) -> int:
        return self._count

    def add(self, place: str, sentence: str, *, size: bool = False) -> None:
        """One fault; the same sentence is said once."""
        self._only_sizes = self._only_sizes and size
        self._count += 1
        text = f"{printable(self._named(place), 160)}: {sentence}"
        if len(self._sentences) >= MOST_REPORTED:
            self._dropped += 1
        elif text not in self._sentences:
            self._sentences.append(text)

    def refuse(self, place: str, refusal: FieldError) -> None:
        """A value that its field does not take."""
        self.add(place, f"{refusal}.")

    def unknown(self, place: str, key: str, known: Iterable[str], what: str = "key") -> None:
        """An unknown key or name, with the nearest known one."""
        names = list(known)
        if len(self._sentences) >= MOST_REPORTED or not names:
            self.add(place, f"unknown {what}; remove it.")
        else:
            self.add(
                place,
                f"unknown {what}, the nearest known one is {nearest(key, names)}; correct or remove it.",
            )

    def raise_if_any(self) -> None:
        """Raises all faults together.

        Raises:
            RefusedSize: when every fault is a size.
            InputFault: otherwise.
        """
        if not self._sentences:
            return
        if self._dropped:
            self._sentences.append(f"and {grouped(self._dropped)} more faults; repair these first.")
        raise (RefusedSize if self._only_sizes else InputFault)(self._sentences)

    def _named(self, place: str) -> str:
        """The option that gave this place or the nearest table above it, with the path; else the path."""
        above = place
        while above:
            if above in self.origins:
                option = self.origins[above]
                return option if above == place else f"{option}: {place}"
            cut = max(above.rfind("."), above.rfind("["))
            above = above[:cut] if cut > 0 else ""
        return place
