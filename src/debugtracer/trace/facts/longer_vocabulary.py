"""A vocabulary with more entries than the table of rows that refused one of its ids."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class LongerVocabulary(Fact, frozen=True, kw_only=True):
    """Emitted once, when an embedding refuses an id that a vocabulary of the program gives."""

    KEEP: ClassVar[int] = 1

    name: str
    """What the program calls it: `tokenizer`, `Words.numbers`."""
    entries: int
    """How many ids it gives, from 0 on."""
    table: int
    """Rows of the table."""
    number: int
    """The largest id that was refused."""
    entry: str = ""
    """What has this id, in words; empty for a tokenizer."""
    filled: Frame | None = None
    """The line that gives an entry its id, or adds tokens; of a tokenizer that is loaded as it is, the line that
    loads it."""
    sized: Frame | None = None
    """The line that gives the table its size, or the model with it."""
    resizes: bool = False
    """The model has `resize_token_embeddings`."""
