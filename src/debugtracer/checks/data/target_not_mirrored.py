"""Do masks and boxes follow their pictures?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.mirrored_input import MirroredInput
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window

SHOWN = 4  # samples named


class TargetNotMirrored(Check, frozen=True):
    """A picture is mirrored at random and its mask, box or points are not, or by a draw of their own.

    What it catches
        A flip or a quarter turn applied to the image alone, or drawn a second time for the target: masks, depth or
        height maps, boxes as corners, key points.
    Why it matters
        The network learns the mean of two outlines, or boxes in the wrong half; the loss falls and stays too high.
    How it decides
        The middles of a few samples are kept and compared when the same dataset indices come again. For four of them
        no one turn takes both the picture and its target from the one delivery to the other, though the target came the
        same, or turned, bit for bit, and the picture too, but for its colours (correlation 0.8, and 0.15 above any
        other turn). Where each delivery cuts another part out of both, at most 8 pixels away, the middle of one must
        lie in the other bit for bit, or, of a picture whose brightness is set anew, resemble a part of it (correlation
        0.97, and 0.15 above any other turn). A target is a tensor of the same height and width, corners of boxes (left
        <= right, top <= bottom in every row), or pairs of numbers at which, or at whose mirror images, the pictures
        stand out by 4 standard deviations beside the points of other pictures. What looks the same when it is turned
        says nothing. A target that changes otherwise is not judged again, nor one that a model is given (a second view,
        the mask of a filling), that is the picture itself, or that many other pictures have, too.
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
        "draw once and apply the flip or turn to both: mask = mask.flip(-1), or for a box left, right = width - right, "
        "width - left",
        "show a few pictures with their masks or boxes drawn over them, as the loader delivers them",
    )
    proved_by: ClassVar[str] = "data/lake_outlines"

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield one finding for each target."""
        for fact in window.new(MirroredInput):
            own = bool(fact.target_how)  # the target is turned, too, but not with its picture
            of_target = own and fact.only != "picture"
            frame = (fact.target_frame if of_target else None) or fact.frame or fact.loader_frame
            message = own_draw(fact) if own else left_behind(fact)
            mirrored = float(len(fact.samples))
            yield self.finding(window, "warning", message, ref=fact.ref, place=Place(frame=frame), mirrored=mirrored)


def left_behind(fact: MirroredInput) -> str:
    """The message for a target that never moves."""
    cut = " but for where it is cut out" if fact.cut else ""
    return (
        f"{fact.path}{spot(fact.frame)} comes {turned(fact.how)} for samples {named(fact)} while "
        f"{fact.target}{spot(fact.target_frame)}, {size(fact)}, is the same bit for bit{cut} (of {fact.compared} "
        "samples seen twice); expected both turned. Apply each flip to both."
    )


def own_draw(fact: MirroredInput) -> str:
    """The message for a target that is turned by itself."""
    picture, target = (turned(how) for how in fact.first)
    line = spot(fact.frame if fact.only == "picture" else fact.target_frame if fact.only else None).strip(" ()")
    todo = f"Apply the turn of {line} to both." if line else "Draw once and use the draw for both."
    return (
        f"{fact.path}{spot(fact.frame)} and {fact.target}{spot(fact.target_frame)}, {size(fact)}, are turned "
        f"separately: samples {named(fact)} (of {fact.compared} seen twice) came again with one turn for the one and "
        f"another for the other, sample {fact.samples[0]} with {fact.path} {picture} and {fact.target} {target}; "
        f"expected the same turn for both. {todo}"
    )


def turned(how: str) -> str:
    """A turn in words."""
    return f"{'turned' if how.startswith('by') else 'mirrored'} {how}" if how else "as it was"


def named(fact: MirroredInput) -> str:
    """A few of the samples."""
    return ", ".join(str(index) for index in fact.samples[:SHOWN])


def size(fact: MirroredInput) -> str:
    """What makes a tensor the target of a picture."""
    words = {"mask": "as high and wide", "box": "the corners of boxes", "points": "which are places in it"}
    return words[fact.what]
