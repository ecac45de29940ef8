"""Does a mask select what it marks?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.mask_index import MaskIndex
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class MaskAsIndex(Check, frozen=True):
    """A mask of an integer type is taken for row numbers.

    What it catches
        `x[mask]` with a mask of int64: 0 and 1 are the numbers of rows then, not no and yes.
    Why it matters
        The first two rows are taken again and again, as many times as there are rows. The loss falls to nothing on
        them; all other rows are never trained on.
    How it decides
        A tensor is indexed with one tensor of whole numbers of the shape of its own first dimensions, all of them 0 or
        1 and both there, at least 16 of them. Row numbers would be others.
    What to do
        Make the mask bool: `mask.bool()`.
    Example
        step 0, rank 0: a mask of int64 (topics.py:47) with 80 ones for 240 rows is used as an index, so rows 0 and 1
        are taken 240 times; expected the 80 marked rows. Make it bool: mask.bool().
    """

    needs: ClassVar[tuple[type[MaskIndex]]] = (MaskIndex,)
    kind: ClassVar[str] = "data_rows_left_out"
    confidence: ClassVar[float] = 0.9
    remedies: ClassVar[tuple[str, ...]] = ("make the mask bool before indexing with it: mask.bool()",)
    proved_by: ClassVar[str] = "data/street_lamps"

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield one finding a line; the observer tells each once."""
        for fact in window.new(MaskIndex):
            done = "written" if fact.writes else "taken"
            yield self.finding(
                window,
                "warning",
                f"a mask of {fact.dtype}{spot(fact.frame)} with {fact.ones} ones for {fact.rows} rows is used as an "
                f"index, so rows 0 and 1 are {done} {fact.rows} times; expected the {fact.ones} marked rows. Make it "
                "bool: mask.bool().",
                ref=fact.ref,
                place=Place(frame=fact.frame),
                rows=fact.rows,
                ones=fact.ones,
            )
