"""How often does a step wait for the accelerator?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.devices import HostSyncs
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class HostSync(Check, frozen=True):
    """The loop reads values from the accelerator many times a step.

    What it catches
        `.item()`, `.cpu()`, `if tensor:` and prints in the loop or the model.
    Why it matters
        Each of them waits until the device has done all that was asked of it; the queue runs empty and the device
        idles.
    How it decides
        Calls on device tensors in two inspected steps, more than 5 in each. Not measurable on the CPU, where nothing
        waits. Always a note.
    What to do
        Keep numbers on the device and read them together every few steps.
    Example
        step 2, rank 0: 34 calls of this step wait for the device (item, train.py:41: 30 times); expected at most 5.
        Read numbers every few steps.
    """

    needs: ClassVar[tuple[type[HostSyncs]]] = (HostSyncs,)
    remedies: ClassVar[tuple[str, ...]] = ("keep numbers on the device and read them together every 50 steps",)
    unproved: ClassVar[str] = "needs a GPU"

    most: int = 5  # calls a step (ours: a loop that logs makes one or two)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield once, at the second such step: the first may hold a warm-up."""
        for fact in window.new(HostSyncs):
            memory = window.memory(self)
            memory["steps"] = memory.get("steps", 0) + (fact.count > self.most)
            if memory["steps"] == 2 and fact.count > self.most:
                worst = fact.at[0]
                at = f", {worst.frame.file.rsplit('/', 1)[-1]}:{worst.frame.line}" if worst.frame is not None else ""
                yield self.finding(
                    window,
                    "note",
                    f"{fact.count} calls of this step wait for the device ({worst.function}{at}: {worst.count} times); "
                    f"expected at most {self.most}. "
                    "Read numbers every few steps.",
                    ref=fact.ref,
                    place=Place(frame=worst.frame),
                    count=fact.count,
                )
