"""Does a copy to another device arrive whole?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.damaged_copy import DamagedCopy
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class CopyDamaged(Check, frozen=True):
    """A tensor that was copied to another device is not what was copied.

    What it catches
        Peer-to-peer copies between GPUs that lose data (an IOMMU or a driver that does not support them): batches or
        activations arrive as zeros, and nothing is raised.
    Why it matters
        Each replica or stage behind such a copy computes with zeros. The loss is too high or becomes NaN, and the
        labels or the learning rate are blamed.
    How it decides
        In inspected steps both sides of `to`, `cuda`, `cpu` and `copy_` between two devices, of one dtype and shape,
        are read on the host right after the call, each over its own way, and compared bit by bit. One different bit is
        an error: no line of the program has run in between.
    What to do
        `NCCL_P2P_DISABLE=1`, or copies over the host: `x.cpu().to(device)`; test peer-to-peer copies (p2pBandwidthTest)
        and update the driver.
    Example
        step 0, rank 0: 4096 of 4096 elements that `to` copied from cuda:0 to cuda:1 (train.py:31) are not what was
        copied, 4096 of them 0; expected the same bits. Turn peer-to-peer copies off and test the machine.
    """

    needs: ClassVar[tuple[type[DamagedCopy]]] = (DamagedCopy,)
    kind: ClassVar[str] = "silent_data_corruption"
    symptom: ClassVar[str] = "silent"
    exact: ClassVar[bool] = True
    remedies: ClassVar[tuple[str, ...]] = (
        "turn peer-to-peer copies off: NCCL_P2P_DISABLE=1, or copy over the host: x.cpu().to(device)",
        "test the machine (p2pBandwidthTest, IOMMU settings) and update its driver before trusting the run",
    )
    unproved: ClassVar[str] = "needs two devices whose copies lose data"

    def judge(self, window: Window) -> Iterator[Finding]:
        """Say it once for each line and pair of devices."""
        for fact in window.new(DamagedCopy):
            yield self.finding(
                window,
                "error",
                f"{fact.different} of {fact.elements} elements that `{fact.function}` copied from {fact.source} to "
                f"{fact.target}{spot(fact.frame)} are not what was copied, {fact.zeros} of them 0; expected the same "
                "bits. Turn peer-to-peer copies off and test the machine.",
                ref=fact.ref,
                place=Place(frame=fact.frame),
                different=fact.different,
            )
