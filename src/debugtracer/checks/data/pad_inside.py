"""Is the id of the padding a word of the texts?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.pad_inside import PadInside as Look
from debugtracer.trace.file_line import file_line, spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class PadInside(Check, frozen=True):
    """The padding index of an embedding is also the id of a word.

    What it catches
        A vocabulary that counts from 0 where 0 is the padding: the most frequent word gets the id of nothing.
    Why it matters
        Its vector is zero and never learns, masks shut it out, and a loss that ignores the padding ignores it.
    How it decides
        The padding is the padding index of an embedding. Or it is a number that the ids of an embedding without one are
        compared with, which fills the ends of texts by the run, and which the only vocabulary in reach gives to an
        ordinary word. In `looks` looks it stands alone, between two other ids, in `share` of the texts or more and in
        `columns` columns or more, while it fills the ends of others. Blocks of it between two parts of a text are left
        alone.
    What to do
        Begin the ids of words above the padding: `{word: i + 1 for i, word in enumerate(words)}`.
    Example
        step 2, rank 0: id 0, the padding index of embed of Encoder (train.py:43), stands between other ids in 41 of 64
        texts, and fills the end of 60; expected it at an end alone. Begin the ids of words above it.
    """

    needs: ClassVar[tuple[type[Look]]] = (Look,)
    kind: ClassVar[str] = "tokenizer_mismatch"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.85
    remedies: ClassVar[tuple[str, ...]] = (
        "begin the ids of words above the padding: {word: i + 1 for i, word in enumerate(words)}",
        "or give the padding an id of its own, and Embedding that padding_idx",
    )
    proved_by: ClassVar[str] = "data/captains_notes"

    looks: int = 2  # inspected steps (ours)
    share: float = 0.1  # of the texts (ours: a stray id is another matter)
    columns: int = 3  # in which it stands alone (ours: a field that may be empty has a column of its own)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Count the looks at each embedding; said once."""
        memory = window.memory(self)
        for fact in window.new(Look):
            found = fact.inside >= self.share * fact.rows and fact.columns >= self.columns and fact.ends > 0
            memory[fact.key()] = memory.get(fact.key(), 0) + found
            if not found or memory[fact.key()] != self.looks:
                continue
            padding = f"the padding index of {fact.module} of {fact.root}{spot(fact.frame)}"
            if fact.masked:
                padding = f"which a mask{spot(fact.mask_frame)} leaves out and which is that of {fact.spelt!r}"
                padding += f" ({file_line(fact.frame)})" if fact.frame is not None else ""
            yield self.finding(
                window,
                "warning",
                f"id {fact.pad}, {padding}, stands between other ids in {fact.inside} of {fact.rows} texts, and fills "
                f"the end of {fact.ends}; expected it at an end alone. Begin the ids of words above it.",
                ref=fact.ref,
                place=Place(frame=fact.frame, module=fact.module or None, symptom_frame=fact.mask_frame),
                inside=fact.inside,
                rows=fact.rows,
            )
