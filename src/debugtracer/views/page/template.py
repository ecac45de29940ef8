"""The built page with the data of a run put into it: one file that opens anywhere and asks for nothing."""

from __future__ import annotations

import base64
import gzip
from functools import cache
from html import escape
from importlib import resources
from typing import Any

import msgspec

FILE = "template.html"
TITLE, PLAIN, DATA = "%TITLE%", "%PLAIN%", "%DATA%"


@cache
def template() -> str:
    """The page as `scripts/page.sh` has built it."""
    return resources.files("debugtracer.views.page").joinpath(FILE).read_text(encoding="utf-8")


def filled(document: dict[str, Any], plain: str) -> str:
    """The template with the title, the plain text for readers without scripts, and the document.

    The document is base64, so nothing of the user's program can end its element or become markup.
    """
    data = base64.b64encode(gzip.compress(msgspec.json.encode(document), 6, mtime=0)).decode()
    title = escape(f"{document['id']} - debug-tracer")
    head, rest = template().split(TITLE, 1)
    middle, rest = rest.split(PLAIN, 1)
    before, after = rest.split(DATA, 1)
    return f"{head}{title}{middle}{escape(plain)}{before}{data}{after}"
