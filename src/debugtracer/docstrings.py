"""The text of a docstring, whatever the width at which its source was wrapped."""

from __future__ import annotations

import itertools
import textwrap

WIDTH = 100
"""Columns of a page in the terminal, indents not counted (ours)."""


def title(text: str) -> str:
    """The first paragraph of a docstring in one line."""
    return " ".join(text.strip().partition("\n\n")[0].split())


def refilled(text: str) -> str:
    """The same text with each paragraph filled anew; a blank line or another indent begins a paragraph."""
    filled = []
    for indent, lines in itertools.groupby(text.splitlines(), key=indent_of):
        if indent is None:
            filled += ["" for _ in lines]
            continue
        paragraph = " ".join(" ".join(line.split()) for line in lines)
        filled.append(
            textwrap.fill(
                paragraph,
                WIDTH,
                initial_indent=indent,
                subsequent_indent=indent,
                break_long_words=False,
                break_on_hyphens=False,
            )
        )
    return "\n".join(filled)


def indent_of(line: str) -> str | None:
    """The spaces before its first word; None for a blank line."""
    return line[: len(line) - len(line.lstrip())] if line.strip() else None
