"""Do the rows of the target belong to the rows of the input?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.rows_taken import RowsTaken
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class RowsMisaligned(Check, frozen=True):
    """The inputs of a step are other rows of the data than its targets.

    What it catches
        Inputs taken by a shuffled index and targets by the position in the file; features of the training nodes beside
        labels of another split; an index that was drawn twice.
    Why it matters
        There is nothing to learn: each prediction is compared with the answer of another row, and the loss stays where
        guessing is.
    How it decides
        Two tensors of one length are indexed along their first dimension in the loop; what was taken of one goes
        through the model, what was taken of the other is the target of a loss. In two inspected steps less than half
        of the row numbers are equal, in none of them all, and they do not stand at one distance, as in a forecast.
        What was taken from a batch that was itself taken (mixed samples) is left alone. In the first updates of each
        optimizer the tape tells of tensors that were put in an order of all their rows: raw targets of a loss in one
        order and its input in another one, or factors of which no two stand in one order and whose tensors no call
        joins otherwise (negatives are drawn apart beside pairs). Orders that sort, and values over all rows, say
        nothing.
    What to do
        Take both by the same index.
    Example
        step 1, rank 0: mse_loss (train.py:14) compares rows 802, 31, 440 ... of the inputs (train.py:13) with rows 0,
        1, 2 ... of the targets (train.py:13): 1 of 32 have one number of the 960; expected the same rows. Take both by
        one index.
    """

    needs: ClassVar[tuple[type[RowsTaken]]] = (RowsTaken,)
    kind: ClassVar[str] = "targets_misaligned"
    symptom: ClassVar[str] = "no_learning"
    confidence: ClassVar[float] = 0.95
    remedies: ClassVar[tuple[str, ...]] = (
        "take inputs and targets by the same index: x[rows], y[rows]",
        "sort, shuffle or split both sides by one order, made once",
    )
    proved_by: ClassVar[str] = "data/weir_gauges"

    looks: int = 2  # inspected steps (ours)
    most_same: float = 0.5  # share of rows with one number: two orders of few rows meet by chance (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Count the looks at each line; said once, and never of a line that was seen to take the same rows."""
        memory = window.memory(self)
        for fact in window.new(RowsTaken):
            line = fact.loss_frame, fact.frame
            if fact.shifted or fact.same > self.most_same * fact.rows:
                memory[line] = -1
            seen = memory.get(line, 0)
            if seen < 0:
                continue
            memory[line] = seen + 1
            if fact.whole and not seen:
                memory[line] = -1
                yield self.apart(window, fact)
            elif memory[line] == self.looks:
                yield self.describe(window, fact)

    def apart(self, window: Window, fact: RowsTaken) -> Finding:
        """Build the finding of two sides that were shuffled apart."""
        return self.finding(
            window,
            "warning",
            f"the two sides of {fact.loss}{spot(fact.loss_frame)} come from two tensors of {fact.length} rows that "
            f"were each put in an order of its own{spot(fact.input_frame)}{spot(fact.frame)}: {fact.same} rows stand "
            "beside their own; expected one order for both. Draw it once and take both by it.",
            ref=fact.ref,
            place=Place(frame=fact.frame, symptom_frame=fact.loss_frame),
            same=fact.same,
            rows=fact.rows,
        )

    def describe(self, window: Window, fact: RowsTaken) -> Finding:
        """Build the finding with the first rows of both."""
        inputs, targets = (", ".join(str(pair[side]) for pair in fact.first) for side in (0, 1))
        return self.finding(
            window,
            "warning",
            f"{fact.loss}{spot(fact.loss_frame)} compares rows {inputs} ... of the inputs{spot(fact.input_frame)} with "
            f"rows {targets} ... of the targets{spot(fact.frame)}: {fact.same} of {fact.rows} have one number of the "
            f"{fact.length}; expected the same rows. Take both by one index.",
            ref=fact.ref,
            place=Place(frame=fact.frame, symptom_frame=fact.loss_frame),
            same=fact.same,
            rows=fact.rows,
        )
