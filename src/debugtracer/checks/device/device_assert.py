"""Did a GPU kernel stop at an index outside its table?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.errors import DEVICE_DIED
from debugtracer.trace.facts.crash import Crash
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class DeviceAssert(Check, frozen=True):
    """The GPU reports a device-side assert.

    What it catches
        Nearly always an index outside its range: a label of cross_entropy, an id of an embedding, an index of gather or
        scatter.
    Why it matters
        Kernels run later than the line that called them, so the traceback points anywhere; afterwards no tensor can be
        read.
    How it decides
        By the text of the exception alone, where the step executed again on the CPU (batches as they were loaded,
        weights drawn) refuses no index: then the class is a guess. Else the check that names the index speaks.
    What to do
        Run once with CUDA_LAUNCH_BLOCKING=1, or on the CPU, where the exception names the value.
    Example
        step 12, rank 0: a GPU kernel stopped at an index outside its range; the line of the traceback need not be the
        guilty one. Run once with CUDA_LAUNCH_BLOCKING=1 or on the CPU.
    """

    needs: ClassVar[tuple[type[Crash]]] = (Crash,)
    at_end: ClassVar[bool] = True
    kind: ClassVar[str] = "label_out_of_range"
    symptom: ClassVar[str] = "crash"
    confidence: ClassVar[float] = 0.5
    remedies: ClassVar[tuple[str, ...]] = (
        "run once with CUDA_LAUNCH_BLOCKING=1, or on the CPU: then the exception names the value",
        "compare the labels with the number of classes, and the ids with the rows of the embedding",
    )
    unproved: ClassVar[str] = "needs a GPU"

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield a finding when the program died of a device-side assert."""
        for crash in window.new(Crash):
            if DEVICE_DIED in crash.message:
                yield self.finding(
                    window,
                    "error",
                    "a GPU kernel stopped at an index outside its range; the line of the traceback need not be the "
                    "guilty one. "
                    "Run once with CUDA_LAUNCH_BLOCKING=1 or on the CPU.",
                    ref=crash.ref,
                    place=Place(symptom_frame=crash.call),
                )
