"""Are the rows of an evaluation others than those of the training, where both are parts of one output?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.evaluated_rows import EvaluatedRows
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.made_at import made_at
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class MasksOverlap(Check, frozen=True):
    """An evaluation takes rows of the output that the loss of training is taken of, and others.

    What it catches
        Masks of a graph's nodes that are drawn each by itself, or by two orders; ranges of row numbers that overlap; a
        loss of all nodes, `cross_entropy(out, y)` for `cross_entropy(out[train_mask], y[train_mask])`.
    Why it matters
        The evaluation measures memory for a part of its rows. The number is too good, and nothing in the curve shows
        it.
    How it decides
        The loss of training is taken of the same rows of an output in all inspected steps, by a mask or by row numbers.
        A call without gradients takes rows of a tensor as long: at least `least` and `share` of them are among those of
        training. Left alone: all rows of training or a part of them (its own accuracy), rows that hold all of training
        (the accuracy of all), row numbers and masks that are others each time, and batches drawn anew. Of a model that
        is given connections of as many nodes as it answers for the loss may be of all rows: told where two evaluations
        take the same part of the same labels, which are not of one class.
    What to do
        Take the loss of the rows of training. Cut the masks from one order: `order = torch.randperm(n)`,
        `train[order[:k]] = True`, `test[order[k:]] = True`.
    Example
        step 99, rank 0: of 200 rows that the evaluation takes (train.py:41), made at train.py:15, 96 are among the 200
        that the loss is taken of (train.py:32), of 400 in all; expected none. Cut both from one order.
    """

    needs: ClassVar[tuple[type[EvaluatedRows]]] = (EvaluatedRows,)
    kind: ClassVar[str] = "data_train_eval_overlap"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.85
    remedies: ClassVar[tuple[str, ...]] = (
        "cut all masks from one order: order = torch.randperm(n); train[order[:k]] = True; test[order[k:]] = True",
        "assert not (train_mask & test_mask).any()",
    )
    proved_by: ClassVar[str] = "data/reef_colonies"

    share: float = 0.02  # share of shared rows (ours)
    least: int = 8  # rows (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """The observer tells each line once."""
        for fact in window.new(EvaluatedRows):
            if fact.shared < max(self.least, self.share * fact.rows):
                continue
            if fact.whole:
                yield self.whole(window, fact)
                continue
            made = f"{made_at(fact.made)}," if fact.made else ""
            yield self.finding(
                window,
                "warning",
                f"of {fact.rows} rows that the evaluation takes{spot(fact.frame)}{made} {fact.shared} are among the "
                f"{fact.trained} that the loss is taken of{spot(fact.train_frame)}, of {fact.length} in all; expected "
                "none. Cut both from one order.",
                ref=fact.ref,
                place=Place(frame=fact.made[0] if fact.made else fact.frame, symptom_frame=fact.frame),
                shared=float(fact.shared),
                rows=float(fact.rows),
            )

    def whole(self, window: Window, fact: EvaluatedRows) -> Finding:
        """A loss of all nodes."""
        return self.finding(
            window,
            "warning",
            f"the loss is taken of all {fact.length} nodes{spot(fact.train_frame)}, also of the {fact.rows} that the "
            f"evaluation takes{spot(fact.frame)}; expected the nodes of training alone. Index both with their mask.",
            ref=fact.ref,
            place=Place(frame=fact.train_frame, symptom_frame=fact.frame),
            remedies=("loss = criterion(out[train_mask], y[train_mask])",),
            shared=float(fact.shared),
            rows=float(fact.rows),
        )
