"""Do masks and boxes follow their pictures?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.checks.optimizer.sequence import spot
from debugtracer.trace.facts.mirrored_input import MirroredInput
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window

SHOWN = 4  # samples named


@dataclass(frozen=True)
class TargetNotMirrored(Check):
    """A picture is mirrored at random and its mask or box is not.

    What it catches
        A flip or a quarter turn applied to the image alone: masks, depth or height maps, boxes as corners.
    Why it matters
        The network learns the mean of two outlines, or boxes in the wrong half; the loss falls and stays too high.
    How it decides
        The middles of a few samples are kept and compared when the same dataset indices come again. Four of them are
        now the mirror image of before, bit for bit, while a tensor of the same height and width (or the corners of
        boxes: left <= right, top <= bottom in every row) is equal bit for bit and would look different if it were
        mirrored, too. One that follows its picture once is not judged again, nor one that a model is given (a second
        view, the mask of a filling) or that is the picture itself.
    What to do
        Draw once, and apply it to both.
    Example
        step 30, rank 0: batch[0] (train.py:37) comes mirrored left to right for samples 3, 18, 41, 60 while batch[1]
        (train.py:35), as high and wide, is the same bit for bit (of 11 samples seen twice); expected both turned. Apply
        each flip to both.
    """

    needs: ClassVar[tuple[type[MirroredInput]]] = (MirroredInput,)
    kind: ClassVar[str] = "targets_misaligned"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.95
    remedies: ClassVar[tuple[str, ...]] = (
        "draw once and apply the flip to both: mask = mask.flip(-1), or for a box left, right = width - right, width "
        "- left",
        "show a few pictures with their masks or boxes drawn over them, as the loader delivers them",
    )
    proved_by: ClassVar[str] = "data/lake_outlines"

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield one finding for each target."""
        for fact in window.new(MirroredInput):
            samples = ", ".join(str(index) for index in fact.samples[:SHOWN])
            size = "as high and wide" if fact.what == "mask" else "the corners of boxes"
            yield self.finding(
                window,
                "warning",
                f"{fact.path}{spot(fact.frame)} comes mirrored {fact.how} for samples {samples} while "
                f"{fact.target}{spot(fact.target_frame)}, {size}, is the same bit for bit (of {fact.compared} "
                "samples seen twice); expected both turned. Apply each flip to both.",
                ref=fact.ref,
                place=Place(frame=fact.frame or fact.loader_frame),
                mirrored=float(len(fact.samples)),
            )
