"""Does the eps of the optimizer exist in the dtype of its state?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.effects import HalfState
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class EpsDtype(Check, frozen=True):
    """The eps of an adaptive optimizer rounds to 0 in the dtype in which it is added.

    What it catches
        Adam with its default eps of 1e-8 on a model in float16.
    Why it matters
        Squared gradients below 6e-8 are 0 in float16 too: the update is then a division by 0.
    How it decides
        The second moment is kept in float16 and eps is at most half of its least number above 0 (5.96e-8): 1e-8 becomes
        exactly 0.
    What to do
        Keep parameters in float32 and use autocast, or set eps to 1e-4 and more.
    Example
        step 0, rank 0: eps 1e-08 of Adam (train.py:28) is 0 in float16, whose least number is 5.96e-08, in which it
        keeps the moments of embed.weight; expected eps of 1e-4 or float32 parameters. Keep float32 weights and use
        autocast.
    """

    needs: ClassVar[tuple[type[HalfState]]] = (HalfState,)
    kind: ClassVar[str] = "optimizer_eps_underflow"
    symptom: ClassVar[str] = "nan_loss"
    exact: ClassVar[bool] = True
    remedies: ClassVar[tuple[str, ...]] = (
        "keep parameters in float32 and run the forward under autocast",
        "or set eps=1e-4",
    )
    proved_by: ClassVar[str] = "optimizer/half_adam_default_eps"

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield an error when eps rounds to 0 in the dtype of the state."""
        for fact in window.new(HalfState):
            eps, least = float(fact.eps), float(fact.least)
            if eps <= least / 2:
                yield self.finding(
                    window,
                    "error",
                    f"eps {eps:g} of {fact.kind}{spot(fact.frame)} is 0 in {fact.dtype}, whose least number is "
                    f"{least:.3g}, in which it keeps the moments of "
                    f"{fact.param}; expected eps of 1e-4 or float32 parameters. Keep float32 weights and use autocast.",
                    ref=fact.ref,
                    place=Place(
                        param=fact.param, module=fact.param.rpartition(".")[0], frame=fact.frame, argument="eps"
                    ),
                    eps=eps,
                    least=least,
                )
