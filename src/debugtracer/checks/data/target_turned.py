"""Does the map that is to be predicted lie over its picture?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.turned_target import TurnedTarget
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.made_at import made_at
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class TargetTurned(Check, frozen=True):
    """Each map that a network is to predict is its picture's transposed, or upside down.

    What it catches
        Rows and columns exchanged on one side: a mask indexed `[x, y]`, `.T` or `permute(2, 1, 0)` where the picture
        has `permute(2, 0, 1)`, rows counted from the bottom, values cut into rows of the other length.
    Why it matters
        Each pixel is asked for the answer of another place. A network whose view is wide learns something of it, so the
        loss falls and stays far too high.
    How it decides
        In two of the first inspected steps some 500 pixels of a batch are told from all others by a regression with a
        kernel: what is known of one is its own values and the means around it. That explains at least 25 % of the
        variance of the map when the map is transposed, mirrored, turned, or cut into rows along its other side, and
        less than 30 % of that as the two lie over each other. It is the same turn both times.
    What to do
        Show a few pictures with their maps over them, as the loader delivers them, and turn one side.
    Example
        step 1, rank 0: pixels of the 32 x 32 pictures tell 0.71 of the variance of the target transposed, and -0.02 as
        it is; it is turned at train.py:20; expected the two to lie over each other. Turn one of both.
    """

    needs: ClassVar[tuple[type[TurnedTarget]]] = (TurnedTarget,)
    kind: ClassVar[str] = "targets_misaligned"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.9
    remedies: ClassVar[tuple[str, ...]] = (
        "give both sides the same order of height and width: mask[y, x], image.permute(2, 0, 1)",
        "show a few pictures with their maps drawn over them, as the loader delivers them",
    )
    proved_by: ClassVar[str] = "data/peat_bogs"

    def judge(self, window: Window) -> Iterator[Finding]:
        """Say it once for each loss."""
        for fact in window.new(TurnedTarget):
            line = spot(fact.frame).strip(" ()")
            where = f"; it is turned at {line}" if line else made_at(fact.made).replace(", made", "; it is made")
            yield self.finding(
                window,
                "warning",
                f"pixels of the {fact.height} x {fact.width} pictures tell {fact.turned:.2g} of the variance of the "
                f"target {fact.how}, and {fact.present:.2g} as it is{where}; expected the two to lie over each other. "
                "Turn one of both.",
                ref=fact.ref,
                place=Place(
                    frame=fact.frame or (fact.made[0] if fact.made else fact.loss_frame), symptom_frame=fact.loss_frame
                ),
                turned=float(fact.turned),
                present=float(fact.present),
            )
