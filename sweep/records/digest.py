"""Canonical JSON and its SHA-256 (`audit.md`, "Content ids")."""

import hashlib
import json
from collections.abc import Mapping, Sequence

JsonValue = None | bool | int | str | Sequence["JsonValue"] | Mapping[str, "JsonValue"]


def canonical_json(value: JsonValue) -> str:
    """`value` as JSON with sorted keys, no spaces and ASCII only; a tuple is an array.

    Raises:
        ValueError: for a NaN or an infinity, which have no JSON form.
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def digest(value: JsonValue) -> str:
    """SHA-256 of the canonical JSON of `value`, 64 lowercase hex digits."""
    return hashlib.sha256(canonical_json(value).encode("ascii")).hexdigest()
