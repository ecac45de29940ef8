"""Do all parameters live on the same kind of device?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.devices import Devices
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class DeviceMix(Check, frozen=True):
    """Some parameters stayed on the CPU while the rest is on an accelerator.

    What it catches
        A part made after `.to(device)`, or kept in a list that `.to` does not see.
    Why it matters
        Each step copies to and fro, or this part is updated at the pace of the CPU.
    How it decides
        The kind of device of every parameter of the modules called. It is a note: offloading does the same on purpose.
    What to do
        Call `.to(device)` once the model is whole.
    Example
        step 0, rank 0: 2 of 62 parameters are on cpu (head.weight, head.bias), the rest on cuda; expected one kind of
        device. Call .to(device) once the model is whole.
    """

    needs: ClassVar[tuple[type[Devices]]] = (Devices,)
    remedies: ClassVar[tuple[str, ...]] = ("call model.to(device) after the last part was added",)
    unproved: ClassVar[str] = "needs a GPU"

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield a note whenever the devices of the parameters change and differ."""
        for fact in window.new(Devices):
            if len(fact.counts) > 1:
                total = sum(count for _, count in fact.counts)
                most, (few, count) = fact.counts[0][0], fact.counts[-1]
                yield self.finding(
                    window,
                    "note",
                    f"{count} of {total} parameters are on {few} ({', '.join(fact.few[:2])}), the rest on {most}; "
                    "expected one kind of device. "
                    "Call .to(device) once the model is whole.",
                    ref=fact.ref,
                    place=Place(param=fact.few[0] if fact.few else None),
                    count=count,
                )
