"""Does fetching a sample leave the stored data as they were?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.fetch_write import FetchWrite
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class FetchWrites(Check, frozen=True):
    """`__getitem__` changes the stored row that it returns: each pass trains on what the passes before have left.

    What it catches
        `x = self.x[i]` is a view, and `x += noise`, `x *= gain`, `x[mask] = 0` or `transform_(x)` writes into the
        data; an augmentation or a scaling that is applied once more in each pass.
    Why it matters
        The data wander off while the labels stay. The loss rises from pass to pass, or falls on data that nobody has.
    How it decides
        When the first pass is over one sample is fetched twice, with generators, attributes and the stored arrays put
        back afterwards. Where each of the two fetches changed a row of floating numbers it is certain. A row that is
        brought to its final form once, by the first fetch, is none; nor are workers, which write into copies that the
        next pass makes anew, unless they persist.
    What to do
        Copy the row before it is changed: `.clone()`, `.copy()`, or write `x = x + noise`.
    Example
        step 40, rank 0: Recordings.__getitem__ writes into Recordings.x (train.py:19): fetching sample 12 changed its
        stored row by 9.1 %, fetching it again by 12.4 % in all; expected stored data as they were. Copy the row first.
    """

    needs: ClassVar[tuple[type[FetchWrite]]] = (FetchWrite,)
    at_end: ClassVar[bool] = True
    kind: ClassVar[str] = "data_overwritten"
    symptom: ClassVar[str] = "silent"
    exact: ClassVar[bool] = True
    confidence: ClassVar[float] = 0.97
    remedies: ClassVar[tuple[str, ...]] = (
        "copy the row before it is changed: x = self.x[i].clone() (numpy: .copy())",
        "or write x = x + noise instead of x += noise",
    )
    proved_by: ClassVar[str] = "data/tram_bells"

    def judge(self, window: Window) -> Iterator[Finding]:
        """Judge each loader once."""
        for fact in window.new(FetchWrite):
            others = f" and {fact.rows - 1} more" if fact.rows > 1 else ""
            yield self.finding(
                window,
                "warning",
                f"{fact.dataset}.__getitem__ writes into {fact.dataset}.{fact.name}{spot(fact.frame)}: fetching sample "
                f"{fact.sample} changed its stored row{others} by {100 * fact.once:.3g} %, fetching it again by "
                f"{100 * fact.twice:.3g} % in all; expected stored data as they were. Copy the row first.",
                ref=fact.ref,
                place=Place(frame=fact.frame or fact.loader_frame, symptom_frame=fact.loader_frame),
                once=fact.once,
                twice=fact.twice,
                rows=fact.rows,
            )
