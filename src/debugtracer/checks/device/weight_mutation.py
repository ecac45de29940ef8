"""Do stored values stay what the last update made of them?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import msgspec

from debugtracer.checks.check import Check
from debugtracer.trace.facts.weights_at_rest import ValueChanged
from debugtracer.trace.finding import Finding
from debugtracer.trace.number import as_float
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class WeightMutation(Check, frozen=True):
    """One stored number changed between two updates.

    What it catches
        A bit flip in memory, or a stray write: one element of one parameter or optimizer moment is another number than
        the last update left.
    Why it matters
        The loss jumps, or the run ends a little worse, and no line of the program explains it. The same machine will do
        it again.
    How it decides
        Parameters and moments are compared bit by bit between the end of an update and the beginning of the next. A
        change of exactly one element of all of them, in one high bit (sign, exponent, the first bits of the mantissa),
        or to a value 100 times beyond the spread of its tensor, is a corruption; it is exact when no operator of torch
        wrote to the tensor and no line of the running program assigns to its elements. Several changed elements of one
        tensor are one when the largest is now 8 times beyond all before and no operator wrote a parameter, or 100 times
        in a moment: nothing but the optimizer makes a moment larger; never exact. Programs that write weights change
        many elements, or the same ones again and again, or by little (clamping): three such events are a habit of the
        program and silent from then on.
    What to do
        Go back to a checkpoint before that step; test the memory of the machine.
    Example
        step 40, rank 0: fc1.weight[7, 3] changed from 0.0412 to 1.4e+37 between two updates (1 bit, number 30 of 32),
        and no operator wrote it; expected only the optimizer to change it. Restore a checkpoint from before this step
        and test the memory.
    """

    needs: ClassVar[tuple[type[ValueChanged]]] = (ValueChanged,)
    kind: ClassVar[str] = "silent_data_corruption"
    symptom: ClassVar[str] = "loss_spike"
    exact: ClassVar[bool] = True
    remedies: ClassVar[tuple[str, ...]] = (
        "restore a checkpoint from before this step",
        "test memory and device (ECC counters, memtest), and take the machine out of service if it comes again",
    )
    proved_by: ClassVar[str] = "device/flipped_exponent"

    # times the root mean square of the tensor (ours: no update and no clamp goes there in one element)
    far: float = 100.0
    # times the largest of several elements of a parameter before, which the observer asks for too (ours)
    grown: float = 8.0
    habit: int = 3  # events after which the program itself writes single elements (ours)
    high: int = 4  # leading bits of the mantissa that count as high (ours: a change of more than 6 %)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield a finding for each event, until there are too many."""
        memory = window.memory(self)
        for fact in window.new(ValueChanged):
            memory["events"] = memory.get("events", 0) + 1
            if memory["events"] < self.habit and self.is_corrupt(fact):
                yield self.describe(window, fact)

    def is_corrupt(self, fact: ValueChanged) -> bool:
        """True for one high bit or a value far out, and for several elements far out together."""
        if fact.count > 1:
            return self.is_overwritten(fact)
        mantissa = {16: 7, 32: 23, 64: 52}.get(fact.width, fact.width)
        flipped = fact.bits == 1 and fact.bit >= mantissa - self.high
        after, rms = as_float(fact.after), as_float(fact.rms)
        return flipped or not abs(after) <= self.far * max(rms, 1e-30)

    def is_overwritten(self, fact: ValueChanged) -> bool:
        """True for a moment that only the optimizer writes, or a parameter that no operator wrote, that is far
        larger."""
        grown = abs(as_float(fact.after)) / max(as_float(fact.rms), 1e-30)
        return not grown <= self.far if fact.what != "parameter" else not fact.written and not grown <= self.grown

    def describe(self, window: Window, fact: ValueChanged) -> Finding:
        """Build the finding with the element, its old and its new value."""
        index = ", ".join(map(str, fact.index))
        what = fact.param if fact.what == "parameter" else f"{fact.what} of {fact.param}"
        more = f" and {fact.count - 1} more elements" if fact.count > 1 else ""
        when = f"within {fact.updates} updates, no other element so far" if fact.updates else "between two updates"
        flips = (
            "the largest of them now"
            if fact.count > 1
            else f"1 bit, number {fact.bit} of {fact.width}"
            if fact.bits == 1
            else f"{fact.bits} bits"
        )
        at = (
            f" ({fact.frame.file.rsplit('/', 1)[-1]}:{fact.frame.line} assigns to single elements of it)"
            if fact.frame is not None
            else ""
        )
        wrote = f"an operator of the program wrote it{at}" if fact.written else f"no operator wrote it{at}"
        told = self.finding(
            window,
            "error",
            f"{what}[{index}]{more} changed from {as_float(fact.before):.4g} to {as_float(fact.after):.4g} {when} "
            f"({flips}), and {wrote}; "
            "expected only the optimizer to change it. Restore a checkpoint from before this step and test the memory.",
            ref=fact.ref,
            place=Place(param=fact.param, module=fact.param.rpartition(".")[0], frame=fact.frame),
            confidence=0.9 if fact.count == 1 else 0.8,
            before=as_float(fact.before),
            after=as_float(fact.after),
            bits=fact.bits,
        )
        return msgspec.structs.replace(
            told, exact=fact.count == 1 and not fact.updates and not fact.written and fact.frame is None
        )
