"""Are the nearest rows that an evaluation looks at others than the row that it asks for?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.own_neighbour import OwnNeighbour
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class QueryCounted(Check, frozen=True):
    """The nearest row of each query is the query itself, and its label is counted as a hit.

    What it catches
        Recall@k, precision@k or the accuracy of nearest neighbours over the distances of a set to itself, where the
        first neighbour (distance 0, similarity 1) is not left out.
    Why it matters
        Recall@1 is 100 % for any model, an untrained one too, and recall@k is not below it: a model that forgets all
        that it has learned still looks perfect, and the best checkpoint is any.
    How it decides
        A function without a graph ranks the rows of a square matrix that is the same when turned, and the nearest row
        is the row's own number in `share` of the rows. The labels of the rows that it gives are looked up and compared,
        in that function or in those that call it or are called with them, and nothing there leaves one out: no slice
        from 1 on, no column chosen, no diagonal filled, no mask, no comparison of row numbers. Left alone: graphs of
        nearest neighbours (no labels are compared), a matrix of two sets, hard examples that are mined.
    What to do
        Leave the row itself out: `distances.fill_diagonal_(float("inf"))`, or take one more and drop the first,
        `topk(k + 1)[1][:, 1:]`.
    Example
        step 0, rank 0: the 8 nearest rows that topk finds (recall.py:12) begin with the row itself in 128 of 128 rows,
        and its label is counted as found; expected other rows alone. Fill the diagonal with inf before, or take one
        more and drop the first.
    """

    needs: ClassVar[tuple[type[OwnNeighbour]]] = (OwnNeighbour,)
    kind: ClassVar[str] = "data_train_eval_overlap"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.85
    remedies: ClassVar[tuple[str, ...]] = (
        'leave the row itself out: distances.fill_diagonal_(float("inf")) (similarities: -inf) before they are ranked',
        "or take one more and drop the first: topk(k + 1)[1][:, 1:]",
    )
    proved_by: ClassVar[str] = "data/whale_flukes"

    share: float = 0.95  # of the rows (ours: two rows may be equal)

    def judge(self, window: Window) -> Iterator[Finding]:
        """The observer tells each line once."""
        for fact in window.new(OwnNeighbour):
            if fact.own < self.share * fact.rows:
                continue
            many = f"{fact.neighbours} nearest rows that {fact.function} finds{spot(fact.frame)} begin with"
            one = f"nearest row that {fact.function} finds{spot(fact.frame)} is"
            yield self.finding(
                window,
                "warning",
                f"the {many if fact.neighbours > 1 else one} the row itself in {fact.own} of {fact.rows} rows, and its "
                "label is counted as found; expected other rows alone. Fill the diagonal with inf before, or take one "
                "more and drop the first.",
                ref=fact.ref,
                place=Place(frame=fact.frame),
                own=float(fact.own),
                rows=float(fact.rows),
            )
