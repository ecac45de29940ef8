"""Are gradients unscaled once per update?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.amp import ScalerRefused
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class DoubleUnscale(Check, frozen=True):
    """`unscale_` is called a second time before the update.

    What it catches
        `scaler.unscale_(optimizer)` in two places (a clip and a log of the norm), or in each microbatch of an
        accumulation.
    Why it matters
        torch raises a RuntimeError. Dividing twice by hand instead would make the update 65536 times too small.
    How it decides
        The scaler's own record of this optimizer says `unscaled` when `unscale_` is called again.
    What to do
        Unscale once, after the last backward of the update and before the first use of the gradients.
    Example
        step 0, rank 0: unscale_ (train.py:34) is called on gradients of SGD that are unscaled already (train.py:30) and
        not updated since; expected once per update. Remove the second call, or unscale only after the last microbatch.
    """

    needs: ClassVar[tuple[type[ScalerRefused]]] = (ScalerRefused,)
    at_end: ClassVar[bool] = True
    kind: ClassVar[str] = "amp_double_unscale"
    symptom: ClassVar[str] = "crash"
    exact: ClassVar[bool] = True
    remedies: ClassVar[tuple[str, ...]] = (
        "call scaler.unscale_(optimizer) once per update, after its last backward",
        "with accumulation: unscale, clip and step together, in the last microbatch only",
    )
    family: ClassVar[str] = "order"
    proved_by: ClassVar[str] = "optimizer/tree_species"

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield an error at the second call of unscale_."""
        for fact in window.new(ScalerRefused):
            if fact.what == "unscaled twice":
                yield self.finding(
                    window,
                    "error",
                    f"unscale_{spot(fact.frame)} is called on gradients of {fact.optimizer} "
                    f"that are unscaled already{spot(fact.before)} and not updated "
                    "since; expected once per update. Remove the second "
                    "call, or unscale only after the last microbatch.",
                    ref=fact.ref,
                    place=Place(frame=fact.frame),
                )
