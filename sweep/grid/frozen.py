"""A dict that nobody can change, for the mappings of a frozen grid."""

from typing import Any, NoReturn

from sweep.grid.fields import Value


class FrozenDict(dict[str, Value]):
    """A dict that nobody can change: as fast to read and to copy, hashable, and it pickles."""

    def _frozen(self, *_: object, **__: object) -> NoReturn:
        raise TypeError("this mapping is frozen; copy it with dict(...) first")

    __setitem__ = __delitem__ = __ior__ = _frozen
    update = setdefault = pop = popitem = clear = _frozen

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple[Any, ...]:
        return FrozenDict, (dict(self),)
