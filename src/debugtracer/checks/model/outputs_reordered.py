"""Do the outputs of a model stand in the order of its inputs?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.function_test import FunctionTest
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class OutputsReordered(Check, frozen=True):
    """A model takes the rows of its batch in another order and does not put its outputs back.

    What it catches
        Sequences that are sorted by length for packing, and outputs that are taken by the same order a second time, or
        never put back.
    Why it matters
        Nearly every output is compared with the target of another row: the loss stops where guessing is, or where what
        all rows have in common ends.
    How it decides
        On a copy in evaluation mode, noise at its mean, up to 16 rows: rows of the input are changed one at a time, so
        that their lengths stay. Each change reaches the output of one row alone, and of three rows and half of those
        tried it is that of another row. The model has taken rows by an index that holds each once, and the targets of
        the loss are a tensor of the batch in its own order: a loop that orders them by what the model returns is left
        alone. A warning where the outputs stand as an order puts them that was taken twice; else a note, as the loop
        may put the outputs back, or a row be asked about another one.
    What to do
        Put the outputs back by the inverse: `outputs[order.argsort()]`.
    Example
        step 0, rank 0: of 8 rows of the input of SentenceVAE that were changed one at a time, 7 changed the output of
        another row, while the targets stand in the order of the batch: the order that the rows were put in
        (model.py:54) is taken a second time (model.py:107); expected its inverse. Take outputs[order.argsort()].
    """

    needs: ClassVar[tuple[type[FunctionTest]]] = (FunctionTest,)
    kind: ClassVar[str] = "targets_misaligned"
    symptom: ClassVar[str] = "no_learning"
    confidence: ClassVar[float] = 0.95
    remedies: ClassVar[tuple[str, ...]] = (
        "put the outputs back by the inverse of the order: outputs[order.argsort()]",
        "or let the library do it: pack_padded_sequence(..., enforce_sorted=False) sorts and puts back itself",
    )
    proved_by: ClassVar[str] = "model/lifeboat_calls"

    def judge(self, window: Window) -> Iterator[Finding]:
        """The trial is made once a root."""
        for fact in window.new(FunctionTest):
            if fact.trial != "row_order" or not fact.changed:
                continue
            first = fact.made[0] if fact.made else None
            again = fact.function == "again"
            how = f"is taken a second time{spot(fact.frame)}" if again else "is not taken back"
            yield self.finding(
                window,
                "warning" if again else "note",
                f"of {fact.length} rows of the input of {fact.root} that were changed one at a time, {fact.position} "
                "changed the output of another row, while the targets stand in the order of the batch: the order that "
                f"the rows were put in{spot(first)} {how}; expected its inverse. Take outputs[order.argsort()].",
                ref=fact.ref,
                place=Place(frame=fact.frame, symptom_frame=first),
                rows=fact.position or 0,
            )
