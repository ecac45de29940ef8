"""Did the device write its largest number where the result was larger?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.overflow_flag import OverflowFlag as Flag
from debugtracer.trace.finding import Finding
from debugtracer.trace.window import Window


class OverflowFlag(Check, frozen=True):
    """A device in saturation mode set its overflow flag in a step that was trained on.

    What it catches
        A result beyond the range of its dtype on a device that writes the largest number of the dtype instead of Inf:
        Ascend chips of the first training series.
    Why it matters
        There is no Inf and no NaN to find: the loss stays finite, and the gradient is that of another number.
    How it decides
        The flag of the device (torch_npu: `get_npu_overflow_flag`), read and cleared after the update of inspected
        steps, so that it also tells of the steps between. A step that a scaler skipped is not told. It is a note: a
        mask of the lowest number plus a score sets the flag as well.
    What to do
        Lower the loss scale or let a dynamic scaler skip the step; compute that op in float32.
    Example
        step 200, rank 0: the overflow flag of npu was set after step 100; expected it clear: a result was beyond the
        range of its dtype and was written as the largest number. Lower the loss scale, or compute that op in float32.
    """

    needs: ClassVar[tuple[type[Flag]]] = (Flag,)
    suspects: ClassVar[tuple[str, ...]] = ("fp16-overflow",)
    remedies: ClassVar[tuple[str, ...]] = (
        "let a dynamic loss scaler skip such steps: torch.amp.GradScaler(device_type)",
        (
            "compute the op in float32: `with torch.autocast(device_type, enabled=False):` around it, with .float() on "
            "its inputs"
        ),
    )
    unproved: ClassVar[str] = (
        "needs an Ascend chip in saturation mode; tested against a stand-in device registered under PrivateUse1"
    )

    def judge(self, window: Window) -> Iterator[Finding]:
        """The first time, then silence: the flag names no place."""
        memory = window.memory(self)
        for fact in window.new(Flag):
            if not memory:
                memory["told"] = True
                when = f"after step {fact.since}" if fact.since < fact.ref.step else "in this step"
                yield self.finding(
                    window,
                    "note",
                    f"the overflow flag of {fact.device} was set {when}; expected it clear: a result was beyond the "
                    "range of its dtype and was written as "
                    "the largest number. Lower the loss scale, or compute that op in float32.",
                    ref=fact.ref,
                    since=float(fact.since),
                )
