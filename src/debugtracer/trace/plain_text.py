"""Text without the escapes by which a terminal is told colours and links."""

from __future__ import annotations

import re

ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\))")


def plain_text(text: str) -> str:
    """Take the escapes out."""
    return ESCAPES.sub("", text) if "\x1b" in text else text
