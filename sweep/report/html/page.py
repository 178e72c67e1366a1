"""The whole page as one document: nothing is loaded, nothing is sent, and no text of the grid becomes markup."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from typing import Any

from sweep.grid.model import Grid
from sweep.report.html.data import page_data
from sweep.report.html.page_text import ENGINE, VIEW, code_of, text_of
from sweep.report.words import safe


def html_report(grid: Grid) -> str:
    """The explorer of a grid: the same grid gives the same bytes."""
    kernels, data = page_data(grid)
    style = text_of("style.css")
    # One function around everything: the page adds no name to the window but its own.
    code = f'"use strict";\n(() => {{\n{code_of(ENGINE)}\n{kernels}\n{code_of(VIEW)}\n}})();\n'
    parts = {
        "policy": html.escape(_policy(code, style)),
        "grid": grid.sha256,
        "title": html.escape(safe(grid.name)),
        "style": style,
        "data": embedded(data),
        "code": code,
    }
    # In one pass: what a part holds is never looked at for another part's mark.
    return re.sub(r"\{\{(\w+)\}\}", lambda mark: parts[mark[1]], text_of("page.html"))


def embedded(data: Any) -> str:
    """JSON that stands in a script element of data: ASCII, and no sign that could end the element."""
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _policy(code: str, style: str) -> str:
    """Nothing may be loaded or sent; of code and style only these very texts run."""
    return (
        f"default-src 'none'; script-src '{_digest(code)}'; style-src '{_digest(style)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def grid_of_page(head: str) -> str | None:
    """The digest of the grid that a page was made for, from its first characters; None where it is no such page."""
    _, mark, rest = head.partition('<meta name="sweep-grid" content="')
    digest = rest[:64]
    return digest if mark and len(digest) == 64 and set(digest) <= set("0123456789abcdef") else None
