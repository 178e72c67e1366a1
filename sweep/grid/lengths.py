"""`[[class.lengths]]`: a class with a length distribution -> one class per bucket, before anything else is read.

Whatever comes after (axes, choices, rules, the canonical text) sees only the classes `<id>:<n>`, n from 1. Each has
its weight's share of the arrivals and of an integer concurrency, rounded up, so that no load is lost.
"""

from collections.abc import Mapping, Sequence

from sweep.grid.document import Document
from sweep.grid.faults import Faults, FieldError
from sweep.grid.fields import FIELDS, FROM_SLO, Field, keys_of
from sweep.grid.overrides import Override, apply_overrides
from sweep.grid.paths import MILLIRPS, RPS, known_paths, locate, millirps, spelled
from sweep.records.bounds import MAX_CLASSES
from sweep.traffic.lengths import MAX_WEIGHT, shares
from sweep.units import grouped, shown

LENGTHS = "lengths"
_LENGTH_KEYS = ("prompt_tokens", "output_tokens")
_BUCKET_KEYS = (*_LENGTH_KEYS, "weight")
_OWN_KEYS = tuple(key for key in keys_of("class") if key not in _LENGTH_KEYS)
"""What a class with lengths may have beside them."""

_WEIGHT = Field(LENGTHS, "weight", "integer", "requests", 1, MAX_WEIGHT)
_LONGEST_ID = 128
"""Characters of an identity."""


def apply_and_expand(document: Document, overrides: Sequence[Override], faults: Faults) -> None:
    """Overrides of classes with lengths, their expansion, then all other overrides, each in the order given.

    So `--set class.chat.arrival_rps=12` spreads over the buckets of chat, and `--set class.chat:1.prompt_tokens=90`
    changes one of them.
    """
    parents = [raw.get("class_id") for raw in document.classes if LENGTHS in raw]
    if not parents:
        apply_overrides(document, overrides, faults)
        return
    early = [override for override in overrides if _sets_a_parent(override, document, parents)]
    apply_overrides(document, early, faults)
    _expand(document, faults)
    apply_overrides(document, [override for override in overrides if override not in early], faults)
    document.overrides = [f"--{kind} {text}" for kind, text in overrides]


def _sets_a_parent(override: Override, document: Document, parents: Sequence[object]) -> bool:
    kind, text = override
    name = text.partition("=")[0].strip()
    found = spelled(name, known_paths(document.class_ids, ("identity", "integer")))
    target = locate(found[0]) if kind == "set" and len(found) == 1 else None
    return target is not None and target.class_id in parents


def _expand(document: Document, faults: Faults) -> None:
    expanded: list[dict[str, object]] = []
    for index, raw in enumerate(document.classes):
        if LENGTHS in raw:
            expanded += _buckets(raw, f"placeholder-{index}", document.class_place(index), faults)
        else:
            expanded.append(raw)
    if len(expanded) > MAX_CLASSES:
        got = f"got {grouped(len(expanded))} classes with the buckets of {LENGTHS}, wanted 1 to {MAX_CLASSES}"
        faults.add("class", f"{got}; merge some buckets.")
        del expanded[MAX_CLASSES:]
    document.classes = expanded


def _buckets(raw: Mapping[str, object], spare_id: str, place: str, faults: Faults) -> list[dict[str, object]]:
    """The classes that one class with lengths becomes; of faulty fields placeholders, so that each is told once."""
    own = _own_fields(raw, spare_id, place, faults)
    buckets = [_bucket(item, f"{place}.{LENGTHS}[{at}]", faults) for at, item in enumerate(_listed(raw, place, faults))]
    if not buckets:
        return [own | dict.fromkeys(_LENGTH_KEYS, 1)]  # a placeholder, so that the class is not missed elsewhere
    class_id, ending = str(own["class_id"]), f":{len(buckets)}"
    if len(class_id) + len(ending) > _LONGEST_ID:
        got = f"got {len(class_id)} characters, wanted at most {_LONGEST_ID - len(ending)} before :1 to {ending}"
        faults.add(f"{place}.class_id", f"{got}; shorten it.")
        class_id = spare_id
    weights = [bucket.pop("weight") for bucket in buckets]
    arrivals = shares(_integer(own, MILLIRPS), weights)
    peaks: Sequence[object] = [FROM_SLO] * len(buckets)
    if own["peak_concurrency"] != FROM_SLO:
        peaks = shares(_integer(own, "peak_concurrency"), weights)
    return [
        own | bucket | {"class_id": f"{class_id}:{at}", MILLIRPS: arrival, "peak_concurrency": peak}
        for at, (bucket, arrival, peak) in enumerate(zip(buckets, arrivals, peaks, strict=True), start=1)
    ]


def _integer(own: Mapping[str, object], key: str) -> int:
    value = own[key]
    assert isinstance(value, int)  # `_own_fields` checked it
    return value


def _listed(raw: Mapping[str, object], place: str, faults: Faults) -> list[Mapping[str, object]]:
    """The buckets that are tables; empty after a fault."""
    given = raw[LENGTHS]
    if isinstance(given, list) and given and all(isinstance(item, dict) for item in given):
        if len(given) <= MAX_CLASSES:
            return given
        faults.add(f"{place}.{LENGTHS}", f"got {grouped(len(given))} buckets, wanted 1 to {MAX_CLASSES}; merge some.")
        return []
    wanted = "a list of tables with prompt_tokens, output_tokens and weight"
    got = "one table" if isinstance(given, dict) else shown(given)
    faults.add(f"{place}.{LENGTHS}", f"got {got}, wanted {wanted}; write [[class.{LENGTHS}]] for each bucket.")
    return []


def _own_fields(raw: Mapping[str, object], spare_id: str, place: str, faults: Faults) -> dict[str, object]:
    """The fields that the buckets share, checked under the name of the class; arrivals in millirps."""
    _check_keys(raw, place, faults)
    own: dict[str, object] = {}
    for key in _OWN_KEYS:
        field = FIELDS["class", key]
        placeholder = spare_id if field.kind == "identity" else field.lower
        spelling = RPS if key == MILLIRPS and RPS in raw else key
        if spelling in raw:
            try:
                value = raw[spelling]
                own[key] = millirps(field, value) if spelling == RPS else field.value(value)
            except FieldError as error:
                faults.refuse(f"{place}.{spelling}", error)
                own[key] = placeholder
        elif not field.optional:
            faults.add(f"{place}.{key}", f"missing, wanted {field.wanted}; add it.")
            own[key] = placeholder
    if "burst_permille" in own and own["peak_concurrency"] != FROM_SLO and type(raw.get("peak_concurrency")) is int:
        del own["burst_permille"]
        what = f'goes with peak_concurrency = "{FROM_SLO}" only; remove it or derive the concurrency.'
        faults.add(f"{place}.burst_permille", what)
    return own


def _check_keys(raw: Mapping[str, object], place: str, faults: Faults) -> None:
    known = (*_OWN_KEYS, RPS, LENGTHS)
    for key in raw:
        if key in _LENGTH_KEYS:
            what = f"given beside {LENGTHS}, whose buckets have it; remove the one or the other."
            faults.add(f"{place}.{key}", what)
        elif key not in known:
            faults.unknown(f"{place}.{key}", key, known)
    if RPS in raw and MILLIRPS in raw:
        faults.add(f"{place}.{RPS}", f"given beside {MILLIRPS}, wanted one of the two; remove one.")


def _bucket(item: Mapping[str, object], place: str, faults: Faults) -> dict[str, int]:
    bucket: dict[str, int] = {}
    for key in item:
        if key not in _BUCKET_KEYS:
            faults.unknown(f"{place}.{key}", key, _BUCKET_KEYS)
    for key in _BUCKET_KEYS:
        field = _WEIGHT if key == "weight" else FIELDS["class", key]
        bucket[key] = field.lower
        if key not in item:
            faults.add(f"{place}.{key}", f"missing, wanted {field.wanted}; add it.")
            continue
        try:
            bucket[key] = field.integer(item[key])
        except FieldError as error:
            faults.refuse(f"{place}.{key}", error)
    return bucket
