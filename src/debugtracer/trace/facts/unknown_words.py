"""How many of the words that a table of weights was given in training are the one that stands for unknown words."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class UnknownWords(Fact, frozen=True, kw_only=True):
    """Of one vocabulary, in one inspected step."""

    KEEP = 16

    name: str
    """Of the vocabulary, as a person would write it."""
    entries: int
    spelt: str
    """That stands for unknown words: <unk>."""
    number: int
    """Its id."""
    columns: tuple[str, ...]
    """Where the ids of each call of the table stand in the batch; empty for what is in none."""
    words: tuple[int, ...]
    """Of each call, without padding."""
    unknown: tuple[int, ...]
    """Of them, unknown."""
    shared: tuple[int, ...]
    """Of the others, those that the call with the fewest unknown words has, too."""
    frame: Frame | None
    """The line that made the vocabulary."""
    read_frame: Frame | None
    """The line that looks the first of them up in the table."""

    written: Frame | None = None
    """The line that wrote the ids with most unknown words."""

    def key(self) -> object:
        """Identify the vocabulary and the look."""
        return self.name, self.ref.step
