"""Does a model read its rows where they hold something?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.checks.model.future_leak import NAMED
from debugtracer.trace.facts.read_padding import ReadPadding
from debugtracer.trace.file_line import file_line, spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class PaddingRead(Check, frozen=True):
    """The one position that a model reads of each row is padding in many of them.

    What it catches
        `h[:, -1]` of rows that are padded on the right, or of what pad_packed_sequence gives; `h[:, 0]` of rows that
        are padded on the left; a gather at lengths where lengths - 1 was meant.
    Why it matters
        The output is made of a padded position: the last token of a row has no part of its own in it, and what is read
        changes with the longest row of the batch. Every shape is right and the loss falls.
    How it decides
        In `looks` inspected steps one position alone is taken out of each row of a tensor, the loss is made of it, and
        in a share of `least` of the rows the id at that position is padding: it fills one end of the rows, more of some
        than of others, and stands nowhere else in them. The program itself says that this id is padding: an Embedding
        has it as `padding_idx`, a mask sets it apart, or ids are compared with it (there a first one may end the text
        and is let through). Tensors that are read at several positions are left alone, and so are recurrent layers
        unless they have carried what they read over more padding than there are ids. Of what pad_packed_sequence gives
        the length of each row is known: there it is the rows that have ended before.
    What to do
        Pad on the other side, or read at the length of each row: `h[torch.arange(len(h)), lengths - 1]`.
    Example
        step 1, rank 0: position 17 of 18, read by an index (train.py:28), holds padding (id 0) in 93 % of the rows (119
        of 128), 8.2 positions behind their last id; expected an id there. Pad on the left, or read each row at its
        length - 1.
    """

    needs: ClassVar[tuple[type[ReadPadding]]] = (ReadPadding,)
    kind: ClassVar[str] = "input_ignored"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.85
    remedies: ClassVar[tuple[str, ...]] = (
        "read each row where it ends: h[torch.arange(len(h)), lengths - 1]",
        "or pad on the side that is not read",
    )
    proved_by: ClassVar[str] = "model/tram_stops"

    looks: int = 2  # inspected steps (ours)
    least: float = 0.25  # of the rows (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Count the looks at each line; said once."""
        memory = window.memory(self)
        for fact in window.new(ReadPadding):
            share = fact.inside / fact.rows
            self.measured(window, "share of rows that are read at padding", share, self.least)
            if share < self.least or (fact.recurrent and float(fact.gap) <= float(fact.length)):
                continue
            memory[fact.frame] = memory.get(fact.frame, 0) + 1
            if memory[fact.frame] != self.looks:
                continue
            where = "the position" if fact.place is None else f"position {fact.place} of {fact.positions}"
            behind = "behind their last id" if fact.side == "right" else "before their first id"
            laid = f" (laid out at {file_line(fact.made)})" if fact.made is not None else ""
            todo = (
                "Pad on the left, or read each row at its length - 1"
                if fact.side == "right"
                else "Pad on the right, or read each row where it begins"
            )
            padding = "what pad_packed_sequence fills up with" if fact.packed else f"padding (id {fact.pad})"
            if fact.packed:
                behind, todo = "behind their ends", "Take the last state, h_n, or read each row at its length - 1"
            yield self.finding(
                window,
                "warning",
                f"{where}, read by {NAMED.get(fact.function, fact.function)}{spot(fact.frame)}, holds {padding} in "
                f"{100 * share:.0f} % of the rows ({fact.inside} of {fact.rows}){laid}, {float(fact.gap):.3g} "
                f"positions {behind}; expected {'a state' if fact.packed else 'an id'} there. {todo}.",
                ref=fact.ref,
                place=Place(frame=fact.frame, symptom_frame=fact.made),
                share=share,
                gap=float(fact.gap),
            )
