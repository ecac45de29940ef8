"""Do the corners of boxes stand in order?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.box_edges import BoxEdges
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window

SHOWN = 4  # samples named


class BoxOrder(Check, frozen=True):
    """A flip mirrors both edges of a box and does not exchange them.

    What it catches
        `boxes[:, [0, 2]] = width - boxes[:, [0, 2]]`: the left edge of a mirrored box is right of its right edge.
    Why it matters
        A part of the targets has a negative width. A network that is to answer both orders learns their mean, boxes
        without width; an IoU with such a box is 0.
    How it decides
        Of the rows of a tensor of four columns one pair (0 and 2, or 1 and 3) is in order in all, the other is not in a
        share of `least` or more, with the same distance either way, and seldom with nearly none, as the difference of
        two numbers in no order is. And it was in order: samples that are fetched again have all lost it at one line
        that left the other pair as it was, or another loader delivers the same tensor in order in all rows.
    What to do
        Exchange them: `boxes[:, [0, 2]] = width - boxes[:, [2, 0]]`.
    Example
        step 3, rank 0: batch[1] (data.py:32): columns 0 and 2 of its rows stand the wrong way round in 66 of 128
        (samples 4, 9), 0.27 apart, 0.289 in the others, while columns 1 and 3 are in order in all: edges of boxes that
        were mirrored and not exchanged; expected column 0 <= column 2, as before that line in 8 samples fetched again.
        Exchange the two when they are mirrored.
    """

    needs: ClassVar[tuple[type[BoxEdges]]] = (BoxEdges,)
    kind: ClassVar[str] = "data_label_noise"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.95
    remedies: ClassVar[tuple[str, ...]] = (
        "exchange the edges when they are mirrored: boxes[:, [0, 2]] = width - boxes[:, [2, 0]]",
        "draw a few boxes over their pictures, as the loader delivers them",
    )
    proved_by: ClassVar[str] = "data/tern_nests"

    least: float = 0.05  # of the rows (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield one finding a tensor; the observer emits each once."""
        for fact in window.new(BoxEdges):
            share = fact.broken / max(fact.rows, 1)
            self.measured(window, "share of rows with a pair the wrong way round", share, self.least)
            if share < self.least:
                continue
            low, high, other = fact.low, fact.low + 2, 1 - fact.low
            named = ", ".join(map(str, fact.samples[:SHOWN]))
            of = f" (samples {named})" if named else ""
            known = (
                f"as before that line in {fact.fetched} samples fetched again"
                if fact.breaks
                else f"as in all {fact.elsewhere} rows of another loader"
            )
            yield self.finding(
                window,
                "warning",
                f"{fact.path}{spot(fact.frame)}: columns {low} and {high} of its rows stand the wrong way round in "
                f"{fact.broken} of {fact.rows}{of}, {fact.broken_size:.3g} apart, {fact.size:.3g} in the others, while "
                f"columns {other} and {other + 2} are in order in all: edges of boxes that were mirrored and not "
                f"exchanged; expected column {low} <= column {high}, {known}. Exchange the two when they are mirrored.",
                ref=fact.ref,
                place=Place(frame=fact.frame or fact.loader_frame, sample_index=fact.samples or None),
                share=share,
            )
