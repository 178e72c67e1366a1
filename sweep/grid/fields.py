"""Every field that a grid file may hold: its table, kind, unit, bounds and default, in one table.

The schema, the axes, the choices, the overrides and the canonical text are all read off `FIELDS`, so a bound
is written once. A field's path is `table.key`, of a request class `class.<id>.key`, where the id is
everything between the first and the last dot.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final, Literal

from sweep.grid.faults import FieldError
from sweep.records.bounds import CLASS_BOUNDS, CONTRACT_BOUNDS, IDENTITY, SCHEDULER_BOUNDS, SCOPE_KEYS
from sweep.units import UNIT_WORDS, UnitError, grouped, odd_character, shown, whole

Value = int | str | bool | Fraction
Kind = Literal["integer", "ratio", "identity", "flag", "title", "word", "span"]

FROM_MEMORY: Final = "from-memory"
FROM_SLO: Final = "from-slo"
FROM_STEP_TIME: Final = "from-step-time"

MAX_RATIO_PART: Final = 1_024
LONGEST_TITLE: Final = 200
_RATIO = re.compile(r"([0-9]{1,9})/([0-9]{1,9})")


@dataclass(frozen=True)
class Field:
    """One field of a grid file.

    Attributes:
        table, key: where it stands; the table of a request class is `class`.
        kind: what it holds; `word` is one fixed text, `span` a range of integers, `[1, 64]`, which the
            base holds as the text `1..64`.
        unit: `ms`, `ns`, `byte`, `permille` (each takes texts with a unit), or a word for messages.
        lower, upper: inclusive bounds of an integer, or of both ends of a span.
        default: its value when the file leaves it out; None where it is required or a model decides.
        optional: whether a model decides if it must be there (`rules.py` says when).
        word: the text that stands in place of the integer and has a model derive it.
    """

    table: str
    key: str
    kind: Kind = "integer"
    unit: str = ""
    lower: int = 0
    upper: int = 0
    default: Value | None = None
    optional: bool = False
    word: str = ""

    @property
    def wanted(self) -> str:
        """What the field takes, for a message."""
        match self.kind:
            case "integer":
                unit = UNIT_WORDS.get(self.unit, self.unit)
                of = f" of {unit}" if unit else ""
                text = f"a whole number{of} from {grouped(self.lower)} to {grouped(self.upper)}"
                return f'{text}, or "{self.word}"' if self.word else text
            case "ratio":
                return f'an integer or a ratio text "p/q", p and q from 1 to {grouped(MAX_RATIO_PART)}'
            case "identity":
                return "a text of letters, digits and _.:/@-, at most 128, the first a letter or digit"
            case "flag":
                return "true or false"
            case "title":
                return f"a text of at most {LONGEST_TITLE} characters on one line"
            case "word":
                return f'"{self.word}"'
            case "span":
                return f"two whole numbers [from, to], each from {grouped(self.lower)} to {grouped(self.upper)}"

    def integer(self, value: object) -> int:
        """A value of an axis or of the base as this field's integer. Raises `FieldError`."""
        if self.kind == "ratio" and isinstance(value, str):
            wanted = f"a whole number from {self.lower} to {grouped(self.upper)}"
            raise FieldError(value, wanted, "list ratios as named choices, [[axes.NAME]]")
        try:
            number = whole(value, self.unit)
        except UnitError as error:
            raise FieldError(value, self.wanted, str(error)) from None
        return self.within(number, value)

    def within(self, number: int, value: object) -> int:
        """The number when it is inside the bounds, else a `FieldError` that shows the value as given."""
        if number < self.lower:
            raise FieldError(value, self.wanted, "raise it")
        if number > self.upper:
            raise FieldError(value, self.wanted, "lower it")
        return number

    def value(self, value: object) -> Value:
        """A value of the base as this field holds it. Raises `FieldError`."""
        if self.word and value == self.word:
            return self.word
        match self.kind:
            case "integer":
                return self.integer(value)
            case "ratio":
                return _ratio(self, value)
            case "identity":
                return _identity(self, value)
            case "flag":
                if isinstance(value, bool):
                    return value
                raise FieldError(value, self.wanted, "write it without quotes")
            case "title":
                return _title(self, value)
            case "word":
                raise FieldError(value, self.wanted, "write exactly that, or remove the key")
            case "span":
                return _span(self, value)

    def choice(self, value: object) -> Value:
        """A value that a choice sets, never the word that derives it. Raises `FieldError`."""
        if self.word and value == self.word:
            raise FieldError(value, replace(self, word="").wanted, "only the base can have a model derive it")
        return self.value(value)


def _ratio(field: Field, value: object) -> int | Fraction:
    if isinstance(value, int) and not isinstance(value, bool):
        if value < 1 or value > MAX_RATIO_PART:
            raise FieldError(value, field.wanted, "raise it" if value < 1 else "lower it")
        return value
    match = _RATIO.fullmatch(value.replace(" ", "")) if isinstance(value, str) else None
    if match is None:
        raise FieldError(value, field.wanted, 'write it as 2 or "1/2"')
    over, under = int(match[1]), int(match[2])
    if not (1 <= over <= MAX_RATIO_PART and 1 <= under <= MAX_RATIO_PART):
        raise FieldError(value, field.wanted, "reduce the ratio to parts within these bounds")
    ratio = Fraction(over, under)
    return ratio.numerator if ratio.denominator == 1 else ratio


def _identity(field: Field, value: object) -> str:
    if not isinstance(value, str) or not IDENTITY.fullmatch(value):
        raise FieldError(value, field.wanted, "rename it")
    return value


def _title(field: Field, value: object) -> str:
    # not isprintable(): that refuses harmless characters such as a no-break space
    if not isinstance(value, str) or len(value) > LONGEST_TITLE or re.search(r"[\x00-\x1f\x7f-\x9f]", value):
        odd = odd_character(value) if isinstance(value, str) else None
        raise FieldError(value, field.wanted, "write such a text" if odd is None else f"take out the character {odd}")
    return value


_SPAN = re.compile(r"([0-9]{1,19})\.\.([0-9]{1,19})")


def _span(field: Field, value: object) -> str:
    match = _SPAN.fullmatch(value) if isinstance(value, str) else None
    ends = [int(match[1]), int(match[2])] if match else value
    if not isinstance(ends, list) or len(ends) != 2 or not all(type(end) is int for end in ends):
        raise FieldError(value, field.wanted, "write it as [1, 64]")
    if ends[0] > ends[1]:
        raise FieldError(f"[{shown(ends[0])}, {shown(ends[1])}]", field.wanted, "swap the two")
    for end in ends:
        field.within(end, end)
    return f"{ends[0]}..{ends[1]}"


def span_ends(text: str) -> tuple[int, int]:
    """The two inclusive ends of a span as the base of a grid holds it: `1..64` is (1, 64)."""
    low, _, high = text.partition("..")
    return int(low), int(high)


_UNIT_OF_ENDING = {"_permille": "permille", "_ms": "ms", "_ns": "ns", "_bytes": "byte", "_rps": ""}


def _unit(key: str) -> str:
    if key in ("kv_bytes_per_token", "activation_bytes_per_chunk_token"):
        return "byte"
    if key == "arrival_millirps":
        return "1/1000 requests per second"
    if key in ("priority", "class_id"):
        return ""
    ending = next((end for end in _UNIT_OF_ENDING if key.endswith(end)), "")
    word = {
        "max_active_sequences": "batch slots",
        "peak_concurrency": "sequences",
        "token_capacity_per_second": "tokens/s",
    }
    return _UNIT_OF_ENDING.get(ending) or word.get(key) or ("tokens" if key.endswith("_tokens") else "")


def _fields() -> dict[tuple[str, str], Field]:
    """All fields, in the order of their tables; bounds as in `grid.md` and, for records, `audit.md`."""
    rows: list[Field] = [Field("sweep", "name", "title")]
    rows += [Field("scope", key, "identity", default=key.replace("_", "-")) for key in SCOPE_KEYS]

    def integers(table: str, bounds: Mapping[str, tuple[int, int]], **defaults: int) -> None:
        for key, (lower, upper) in bounds.items():
            rows.append(Field(table, key, "integer", _unit(key), lower, upper, defaults.get(key)))

    integers("contract", CONTRACT_BOUNDS)
    rows.append(Field("scheduler", "scheduler_id", "identity"))
    integers("scheduler", SCHEDULER_BOUNDS)
    rows.append(Field("workload", "admission_control_enabled", "flag", default=True))
    integers("traffic", {"scale_permille": (1, 10**15), "replicas": (1, 10**6)}, scale_permille=1_000, replicas=1)
    rows.append(Field("traffic", "scale_concurrency", "flag", default=True))
    rows.append(Field("class", "class_id", "identity"))
    integers("class", CLASS_BOUNDS | {"burst_permille": (1, 10**6)})
    nanoseconds = {
        "base_ns": (0, 10**15),
        "per_sequence_ns": (0, 10**12),
        "per_prefill_token_ns": (0, 10**12),
    }
    integers("step_time", nanoseconds)
    rows.append(Field("step_time", "capacity", "word", optional=True, word=FROM_STEP_TIME))
    rows.append(Field("step_time", "measured_slots", "span", "", 0, 10**6, optional=True))
    rows.append(Field("step_time", "measured_chunk_tokens", "span", "", 0, 10**7, optional=True))
    rows.append(Field("step_time", "source", "title", optional=True))
    integers("model", dict.fromkeys(("layers", "kv_heads", "head_dim"), (1, 10**5)))
    rows.append(Field("model", "kv_bytes_per_value", "ratio", "", 1, MAX_RATIO_PART))
    integers("model", {"weight_bytes": (0, 10**18)})
    memory = {"memory_bytes": (1, 10**18), "memory_utilization_permille": (1, 1_000)}
    memory |= dict.fromkeys(("activation_bytes", "framework_overhead_bytes"), (0, 10**18))
    integers("gpu", memory)
    integers(
        "gpu",
        {
            "tensor_parallel": (1, 10**4),
            "block_tokens": (1, 10**6),
            "reserved_bytes": (0, 10**18),
            "activation_bytes_per_chunk_token": (0, 10**12),
        },
        tensor_parallel=1,
        block_tokens=16,
        reserved_bytes=0,
        activation_bytes_per_chunk_token=0,
    )
    table = {(row.table, row.key): row for row in rows}
    decided_by_a_model = [(name, key) for name, key in table if name == "gpu" and key in memory]
    decided_by_a_model += [("class", "burst_permille")]
    decided_by_a_model += [("scheduler", key) for key in DERIVED_SCHEDULER]
    for place in decided_by_a_model:
        table[place] = replace(table[place], optional=True)
    table["contract", "max_kv_bytes"] = replace(table["contract", "max_kv_bytes"], word=FROM_MEMORY)
    table["class", "peak_concurrency"] = replace(table["class", "peak_concurrency"], word=FROM_SLO)
    return table


DERIVED_SCHEDULER: Final = ("token_capacity_per_second", "iteration_time_ms", "kv_bytes_per_token")
"""The scheduler's fields that a model may derive."""

FIELDS: Final[Mapping[tuple[str, str], Field]] = _fields()
"""(table, key) -> field, in the order of the tables."""

TABLES: Final[tuple[str, ...]] = tuple(dict.fromkeys(table for table, _ in FIELDS))
"""The tables of a grid file, `class` among them, without `axes`."""


def keys_of(table: str) -> tuple[str, ...]:
    """The keys of a table, in order."""
    return tuple(key for name, key in FIELDS if name == table)
