"""Does the answer at each position belong to that position?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.function_test import FunctionTest
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window

SEEN = {
    "mixed": "the positions up to its own and as many at the other end, and none between",
    "reversed": "the positions at the other end alone, while its target goes with the input at its own",
}


class OutputsReversed(Check, frozen=True):
    """A sequence is read from its end, and what comes out is not turned round again.

    What it catches
        A second recurrent network that is given `x.flip(1)` and whose outputs are put beside those of the first as they
        come: the output at position t knows the text up to t, and the end of the text. Or a model that reads backwards
        and gives its answers from the last position to the first.
    Why it matters
        In the middle of a long text the two halves of an output know different words. The model still learns the one
        half, so the loss falls and stops too early.
    How it decides
        On a copy of the model in evaluation mode one position of the input is changed at a time, near both ends, and
        the outputs are compared bit for bit. Each position has a target. The outputs at position 0 and at one behind it
        change with the positions up to their own and with as many at the other end, and with neither neighbour in
        between: no mask or window reads so. Or they change with the other end alone, and a regression tells the targets
        from the inputs at their own positions better than from those as far from the end, so it is not meant.
    What to do
        Turn the outputs round again before they are used: `backward(x.flip(1))[0].flip(1)`.
    Example
        step 0, rank 0: the output of Tagger at each of 24 positions has seen the positions up to its own and as many at
        the other end, and none between; the sequence is turned round at train.py:31; expected what comes after its own.
        Turn the outputs round again.
    """

    needs: ClassVar[tuple[type[FunctionTest]]] = (FunctionTest,)
    kind: ClassVar[str] = "targets_misaligned"
    symptom: ClassVar[str] = "silent"
    exact: ClassVar[bool] = False
    confidence: ClassVar[float] = 0.9
    remedies: ClassVar[tuple[str, ...]] = (
        "turn the outputs round again: backward(x.flip(1))[0].flip(1)",
        "or leave it to nn.GRU(..., bidirectional=True)",
    )
    proved_by: ClassVar[str] = "model/skylark_songs"

    def judge(self, window: Window) -> Iterator[Finding]:
        """The trial is made once a root."""
        for fact in window.new(FunctionTest):
            if fact.trial != "reading_order" or not fact.changed:
                continue
            line = spot(fact.frame).strip(" ()")
            turned = f"; the sequence is turned round at {line}" if line else ""
            expected = "what comes after its own" if fact.function == "mixed" else "its own"
            yield self.finding(
                window,
                "warning",
                f"the output of {fact.root} at each of {fact.length} positions has seen {SEEN[fact.function]}{turned}; "
                f"expected {expected}. Turn the outputs round again.",
                ref=fact.ref,
                place=Place(frame=fact.frame),
            )
