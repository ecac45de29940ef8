"""Do the rows of a dataset's inputs and of its targets stand in one order?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.row_pairing import RowPairing
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding, Severity
from debugtracer.trace.made_at import made_at
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window

ROWS = {
    "reversed": "in the opposite order",
    "by-text": "in the order of row numbers sorted as text (1, 10, 11, 2)",
    "from-text": "in the order of row numbers, of which the inputs have those sorted as text (1, 10, 11, 2)",
    "grid": "with the two axes of its grid of rows exchanged",
    "by-column": "in the order of column {by} of the inputs",
    "moved": "{by} rows further on",
}
SORTED = {"targets-sorted": ("targets", "inputs"), "inputs-sorted": ("inputs", "targets")}


class OrdersDiffer(Check, frozen=True):
    """The inputs of a dataset stand in another order than its targets.

    What it catches
        One side that was sorted, reversed, rolled, grouped or joined alone before the dataset was built; files in the
        order of their names as text beside a table in the order of their numbers; a grid that was flattened along its
        other axis.
    Why it matters
        Each input is asked for the answer of another one. There is nothing to learn, and nothing says so.
    How it decides
        A regression with a kernel tells the target of each row from all other rows, once, at the side. Of a few hundred
        rows as they are paired it tells no more than by chance (less than 4 standard deviations of 64 pairings drawn at
        random). Then all rows are fetched in their order and some fixed orders are tried: reversed, numbered as text,
        the axes of a grid exchanged, sorted by a column of the inputs, moved by each number of rows. One of them
        explains at least 15 % of the variance more, in each half of the rows, and stands out by 8 standard deviations
        from the same order moved by other numbers of rows, so that a series that resembles its neighbours is not taken
        for a match. Targets some rows further on are what a forecast asks for: a note, unless targets from the other
        end of the data fit as well, or the inputs are pictures or texts. Where nothing restores the relation, numbers
        of one side alone that rise from the first row to the last are told; it is an error where a line sorts the
        targets.
    What to do
        Put both sides in order by one index, or keep each target beside its input from the start.
    Example
        step 8, rank 0: of 900 rows the targets cannot be told from the inputs (-0.06 of their variance; 0 by chance),
        but 0.81 of it can with the targets in the opposite order; one side is put in order at train.py:18; expected
        both sides in one order. Take both by one index.
    """

    needs: ClassVar[tuple[type[RowPairing]]] = (RowPairing,)
    kind: ClassVar[str] = "targets_misaligned"
    symptom: ClassVar[str] = "no_learning"
    confidence: ClassVar[float] = 0.9
    remedies: ClassVar[tuple[str, ...]] = (
        "sort, reverse, filter or join inputs and targets by one index, made once: x[order], y[order]",
        "join by a key, not by position: sorted(os.listdir()) gives 1, 10, 11, 2",
    )
    proved_by: ClassVar[str] = "data/rain_gauges"

    come_round: int = 8  # rows whose targets come from the other end of the data: no forecast does so (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Say it once for each loss."""
        for fact in window.new(RowPairing):
            yield self.describe(window, fact)

    def describe(self, window: Window, fact: RowPairing) -> Finding:
        """Build the finding of an order that restores, or of a side that is sorted."""
        if fact.order in SORTED:
            side, other = SORTED[fact.order]
            seen = (
                f"of {fact.rows} rows the {side} rise or fall from the first to the last while the {other} do not, and "
                f"the targets cannot be told from the inputs ({fact.present:.2g} of their variance; 0 by chance)"
            )
        else:
            seen = (
                f"of {fact.rows} rows the targets cannot be told from the inputs ({fact.present:.2g} of their variance;"
                f" 0 by chance), but {fact.gain:.2g} of it can with the targets {ROWS[fact.order].format(by=fact.by)}"
            )
        line = spot(fact.frame).strip(" ()")
        made = f"; one side is put in order at {line}" if line else made_at(fact.made)
        maybe = self.severity(fact) == "note"
        todo = "Unless this is a forecast, take" if maybe and fact.order == "moved" else "Take"
        frame = fact.frame or (fact.made[0] if fact.made else fact.loss_frame)
        return self.finding(
            window,
            self.severity(fact),
            f"{seen}{made}; expected both sides in one order. {todo} both by one index.",
            ref=fact.ref,
            place=Place(frame=frame, symptom_frame=fact.loss_frame),
            gain=float(fact.gain),
            present=float(fact.present),
        )

    def severity(self, fact: RowPairing) -> Severity:
        """A note for what a forecast may look like, and for inputs that are sorted; an error where a line sorts the
        targets alone."""
        if fact.order == "targets-sorted" and fact.frame is not None:
            return "error"  # a line puts one side in order, and the relation is gone
        forecast = fact.order == "moved" and fact.wrapped < self.come_round and fact.kind == "numbers"
        return "note" if forecast or fact.order == "inputs-sorted" else "warning"
