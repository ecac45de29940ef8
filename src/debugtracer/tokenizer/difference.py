"""One answer of the comparison: something differs, is only worth a note, or cannot be measured on one side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

State = Literal["different", "note", "not measurable"]


@dataclass(frozen=True)
class Difference:
    """What was seen in the tokenizer that serves, beside the one that trained."""

    aspect: str
    state: State
    message: str
    """Grammar: where - what was seen - what was expected - what to do next."""


def different(aspect: str, where: str, seen: str, expected: str, remedy: str) -> Difference:
    """A difference that changes what the model reads."""
    return Difference(aspect, "different", f"{where} - {seen} - expected {expected} - {remedy}")


def noted(aspect: str, where: str, seen: str, expected: str, remedy: str) -> Difference:
    """A difference that is legitimate, or that no text has shown to matter."""
    return Difference(aspect, "note", f"{where} - {seen} - expected {expected} - {remedy}")


def unmeasured(aspect: str, why: str) -> Difference:
    """An aspect that one of the two does not give."""
    return Difference(aspect, "not measurable", why)


def shown(items: list[str], most: int = 3) -> str:
    """The first items of a list, quoted, and how many more there are."""
    rest = f" and {len(items) - most} more" if len(items) > most else ""
    return ", ".join(short(item) for item in items[:most]) + rest


def short(text: str, most: int = 40) -> str:
    """A text in quotes on one line, its middle left out when it is long."""
    quoted = repr(text)
    return quoted if len(quoted) <= most else f"{quoted[: most // 2]}...{quoted[-most // 4 :]} ({len(text)} characters)"
