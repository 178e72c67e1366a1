"""Pictures as bytes: PNG, SVG or PDF, without a display, a date or anything of the user's own settings.

The same scene gives the same bytes on the same matplotlib. What is written says that `sweep plot` made it, so that a
picture of ours can be told from other files.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

MAKER = "sweep plot"
FORMATS = ("png", "svg", "pdf")
_BACKENDS = {"png": "agg", "svg": "svg", "pdf": "pdf"}
_DOTS_PER_INCH = {"png": 300, "svg": 400, "pdf": 600}
"""Of a PNG, and of the images inside the others."""

_MAGIC = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}
_LARGEST = 2**26
"""Bytes of a file that is looked at; no picture of ours is larger."""

_STYLE: Any = {
    "text.parse_math": False,
    "text.usetex": False,
    "hatch.linewidth": 0.45,
    "svg.hashsalt": MAKER,
    "svg.fonttype": "path",
    "pdf.fonttype": 42,
}


def picture(draw: Callable[[], Figure], kind: str, form: str, about: str) -> bytes:
    """A picture.

    Args:
        draw: makes the figure; called with matplotlib's own defaults in force.
        kind: what it shows, in the file's title.
        form: one of `FORMATS`.
        about: what it was made from, in the file's description; ASCII.
    """
    stream = io.BytesIO()
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(_STYLE)
        figure = draw()
        figure.savefig(
            stream,
            format=form,
            backend=_BACKENDS[form],
            dpi=_DOTS_PER_INCH[form],
            metadata=_metadata(kind, form, f"{about}; matplotlib {mpl.__version__}"),
        )
    return stream.getvalue()


def _metadata(kind: str, form: str, about: str) -> dict[str, Any]:
    if form == "png":
        return {"Software": MAKER, "Title": kind, "Description": about}
    if form == "svg":
        return {"Creator": MAKER, "Title": kind, "Description": about, "Date": None}
    return {"Creator": MAKER, "Title": kind, "Subject": about, "CreationDate": None}


def is_ours(path: Path) -> bool:
    """Whether a file is a picture that `sweep plot` made, by what it holds."""
    try:
        if not path.is_file() or path.stat().st_size > _LARGEST:
            return False
        data = path.read_bytes()
    except (OSError, ValueError):
        return False
    return data.startswith(tuple(_MAGIC.values())) and MAKER.encode() in data
