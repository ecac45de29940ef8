"""Are the targets inside the range of their loss?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.checks.data.wording import place_of, which, with_samples
from debugtracer.trace.facts.batch_content import BatchOddity
from debugtracer.trace.facts.loss_call import LossCall
from debugtracer.trace.finding import Finding
from debugtracer.trace.number import as_float
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class LabelRange(Check, frozen=True):
    """Targets outside the range of the loss that takes them.

    What it catches
        Labels that begin at 1, a class that the head does not have, -1 for "unknown", targets of a binary loss that are
        not in [0, 1].
    Why it matters
        On a GPU the program dies far from the cause or reads foreign memory; a binary loss without a lower bound runs
        off to minus infinity.
    How it decides
        A loss call is the proof: targets that count (ignore_index left out) outside [0, classes), or outside [0, 1] for
        probabilities. Without one, an integer label beyond everything seen in 50 batches is a note: only a loss knows
        how many classes there are.
    What to do
        Map the labels to 0..classes-1, give the unknown ones ignore_index, or give the head one more output.
    Example
        step 3, rank 0: cross_entropy was given 2 targets outside 0..9 (samples 41, 77); they reach 10; expected 0 <=
        target < 10. Map the labels or set ignore_index.
    """

    needs: ClassVar[tuple[type, ...]] = (LossCall, BatchOddity)
    kind: ClassVar[str] = "label_out_of_range"
    exact: ClassVar[bool] = True
    remedies: ClassVar[tuple[str, ...]] = (
        "map the labels to 0..classes-1 where the dataset makes them",
        "give unknown labels the value of ignore_index (-100)",
        "give the last layer one output for each class",
    )
    proved_by: ClassVar[str] = "data/signed_labels"

    def judge(self, window: Window) -> Iterator[Finding]:
        """An error for a loss call, a note for a label never seen before."""
        for call in window.new(LossCall):
            if call.outside:
                yield self.from_loss(window, call)
        for fact in window.new(BatchOddity):
            if fact.what == "label":
                yield self.finding(
                    window,
                    "note",
                    f"{fact.path} of {which(fact.batch, fact.loader)} holds the label "
                    f"{as_float(fact.value):.0f}{with_samples(fact.samples)}; the labels of {fact.looked} batches "
                    f"reached {as_float(fact.usual):.0f}; expected a known class. Check that the head has an output "
                    "for it.",
                    ref=fact.ref,
                    place=place_of(fact),
                    label=as_float(fact.value),
                )

    def from_loss(self, window: Window, call: LossCall) -> Finding:
        """Build the finding with the targets and the loss that was given them."""
        soft = call.classes is None
        allowed = "[0, 1]" if soft else f"0..{(call.classes or 1) - 1}"
        low, high = as_float(call.target_low or 0.0), as_float(call.target_high or 0.0)
        return self.finding(
            window,
            "error",
            f"{call.loss} was given {call.outside} targets outside {allowed}{with_samples(call.outside_samples)}; "
            f"targets lie in {low:g}..{high:g}; "
            f"expected {allowed}. Map the targets, or set ignore_index.",
            ref=call.ref,
            place=Place(
                frame=call.frame,
                module=call.module,
                batch_rows=call.outside_rows or None,
                sample_index=call.outside_samples,
            ),
            outside=call.outside,
            low=low,
            high=high,
        )
