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


LEAST_RATIO = 0.6
"""Names that are less alike than this (`difflib`'s ratio) are not near."""


def nearest(key: str, known: Sequence[str]) -> str:
    """The known name that is most like a key; `known` is not empty."""
    return difflib.get_close_matches(key[:120], known, n=1, cutoff=0.0)[0]


def near(key: str, known: Sequence[str]) -> str | None:
    """The known name that is most like a key, as a whole or in the last part of its path; None where none is
    near.
    """
    spellings = {name.rpartition(".")[2]: name for name in reversed(known)} | {name: name for name in known}
    found = difflib.get_close_matches(key[:120], list(spellings), n=1, cutoff=LEAST_RATIO)
    return spellings[found[0]] if found else None


def listed(names: Sequence[str], most: int = 12) -> str:
    """Names in a row, the rest of a long list by its number."""
    text = ", ".join(printable(name, 40) for name in names[:most])
    return text if len(names) <= most else f"{text}, … ({grouped(len(names))} in all)"


class Faults:
    """Collects the faults of one document; `origins` names the option that a place was given by.

    Attributes:
        origins: place in the file -> `--set …` or `--axis …`, where the command line gave that place's value.
        places: where the faults are.
    """

    def __init__(self, origins: Mapping[str, str]) -> None:
        self.origins = origins
        self.places: set[str] = set()
        self._sentences: list[str] = []
        self._count = self._dropped = 0
        self._only_sizes = True

    def __len__(self) -> int:
        return self._count

    def add(self, place: str, sentence: str, *, size: bool = False) -> None:
        """One fault; the same sentence is said once."""
        self._only_sizes = self._only_sizes and size
        self._count += 1
        self.places.add(place)
        text = f"{printable(self._named(place), 160)}: {sentence}"
        if len(self._sentences) >= MOST_REPORTED:
            self._dropped += 1
        elif text not in self._sentences:
            self._sentences.append(text)

    def refuse(self, place: str, refusal: FieldError) -> None:
        """A value that its field does not take."""
        self.add(place, f"{refusal}.")

    def unknown(self, place: str, key: str, known: Iterable[str], what: str = "key") -> None:
        """An unknown key or name, with the nearest known one; where none is near, with what there is."""
        names = list(known)
        if len(self._sentences) >= MOST_REPORTED or not names:
            self.add(place, f"unknown {what}; remove it.")
            return
        close = near(key, names)
        known_ones = f"the nearest known one is {close}" if close else f"wanted one of {listed(names)}"
        self.add(place, f"unknown {what}, {known_ones}; correct or remove it.")

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
