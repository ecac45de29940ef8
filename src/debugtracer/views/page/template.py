"""The built page with the data of a run put into it: one file that opens anywhere and asks for nothing."""

from __future__ import annotations

import base64
import gzip
import re
from functools import cache
from html import escape
from importlib import resources
from typing import Any

import msgspec

FILE = "template.html"
TITLE, PLAIN, DATA = "%TITLE%", "%PLAIN%", "%DATA%"
POLICY = re.compile(r'(?<=http-equiv="Content-Security-Policy" content=")[^"]*')


@cache
def template() -> str:
    """The page as `scripts/page.sh` has built it."""
    return resources.files("debugtracer.views.page").joinpath(FILE).read_text(encoding="utf-8")


@cache
def live_template() -> str:
    """The same page, that may ask the server it came from, and nobody else."""
    return POLICY.sub(live_policy(), template(), count=1)


@cache
def live_policy() -> str:
    """The policy of the page as it is served."""
    found = POLICY.search(template())
    assert found is not None, FILE
    return f"{found[0]}; connect-src 'self'"


def filled(document: dict[str, Any], plain: str, page: str | None = None) -> str:
    """The template (or another page like it) with the title, the plain text for readers without scripts, and the
    document.

    The document is base64, so nothing of the user's program can end its element or become markup.
    """
    data = base64.b64encode(gzip.compress(msgspec.json.encode(document), 6, mtime=0)).decode()
    title = escape(f"{document['id']} - debug-tracer")
    head, rest = (page or template()).split(TITLE, 1)
    middle, rest = rest.split(PLAIN, 1)
    before, after = rest.split(DATA, 1)
    return f"{head}{title}{middle}{escape(plain)}{before}{data}{after}"
