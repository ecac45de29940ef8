"""Does the learning rate ever come near the one that the optimizer was built with?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.schedule import RateHistory
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class RateUnreached(Check, frozen=True):
    """The run ends without ever having come near the learning rate that was chosen.

    What it catches
        A warm-up counted in updates whose scheduler is stepped once per epoch (Lightning's default interval); a
        function for LambdaLR that returns the rate itself, which LambdaLR multiplies with the rate of the optimizer.
    Why it matters
        Nothing fails: the loss falls slowly, and the model looks weak.
    How it decides
        When the run is over, after `updates` updates. In stairs: the rate only rose, in two stairs or more with
        `apart` updates between them at least, and at its pace the chosen rate is `runs` times the whole run away.
        Multiplied twice: under LambdaLR the highest rate of the run is the square of the chosen one within `same`, as
        the largest factor was the rate itself. A rate of `scale` or more is a scale of the schedule and no rate.
    What to do
        Step a warm-up after each update (in Lightning: "interval": "step"); return a factor of the rate to LambdaLR.
    Example
        step 239, rank 0: the learning rate of AdamW (train.py:31) rose in 5 stairs through all 240 updates and ended at
        0.00018, 6 % of the 0.003 it was built with; expected a warm-up that ends early in the run: LambdaLR
        (train.py:33) is stepped every 40 updates. Step it after each update.
    """

    needs: ClassVar[tuple[type[RateHistory]]] = (RateHistory,)
    at_end: ClassVar[bool] = True
    kind: ClassVar[str] = "scheduler_misuse"
    symptom: ClassVar[str] = "no_learning"
    confidence: ClassVar[float] = 0.85
    remedies: ClassVar[tuple[str, ...]] = (
        'step the scheduler after each update (in Lightning: {"scheduler": ..., "interval": "step"})',
        "or count the warm-up in the unit in which it is stepped",
    )
    proved_by: ClassVar[str] = "optimizer/harbour_pilots"

    updates: int = 50  # of a run that has to say something (ours)
    stairs: int = 2  # rises (ours)
    apart: float = 4.0  # updates between two rises (ours: gradient accumulation is counted in updates already)
    runs: float = 3.0  # times the run: a run that was stopped for a look is shorter than its warm-up, too (ours)
    same: float = 0.02  # share by which the peak may differ from the square (ours)
    scale: float = 0.5  # rates of torch's optimizers lie below; 1.0 stands before factors that are rates (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Judge each rate when the run is over."""
        for fact in window.new(RateHistory):
            built = float(fact.built)
            if fact.updates < self.updates or not 0 < built < self.scale:
                continue
            if self.is_squared(fact):
                yield self.squared(window, fact)
            elif self.is_stairs(fact):
                yield self.in_stairs(window, fact)

    def is_squared(self, fact: RateHistory) -> bool:
        """Whether the highest rate is the square of the one it was built with."""
        square = float(fact.built) ** 2
        return fact.scheduler == "LambdaLR" and abs(float(fact.peak) - square) <= self.same * square

    def is_stairs(self, fact: RateHistory) -> bool:
        """Whether the rate rose in few stairs and is far from the one it was built with."""
        rises = fact.rises >= self.stairs and not fact.falls
        return (
            rises
            and fact.updates >= self.apart * (fact.rises + 1)
            and float(fact.rate) * self.runs <= float(fact.built)
        )

    def squared(self, window: Window, fact: RateHistory) -> Finding:
        """Tell a factor that is the rate itself."""
        built = f"{float(fact.built):.3g}"
        return self.finding(
            window,
            "warning",
            f"the learning rate of {fact.kind}{spot(fact.frame)} was {float(fact.peak):.3g} at its highest, the square "
            f"of the {built} it was built with; expected {built}: the function given to "
            f"LambdaLR{spot(fact.scheduler_frame)} returns the rate itself, and LambdaLR multiplies the two. "
            "Return a factor of the rate.",
            ref=fact.ref,
            place=Place(frame=fact.value_frame or fact.scheduler_frame or fact.frame),
            remedies=("return a factor of the rate (1.0 at its highest), or build the optimizer with lr=1.0",),
            rate=float(fact.peak),
            built=float(fact.built),
        )

    def in_stairs(self, window: Window, fact: RateHistory) -> Finding:
        """Tell a warm-up that is stepped too rarely."""
        share = 100 * float(fact.rate) / float(fact.built)
        stepped = f"{fact.scheduler}{spot(fact.scheduler_frame)}" if fact.scheduler else "it"
        return self.finding(
            window,
            "warning",
            f"the learning rate of {fact.kind}{spot(fact.frame)} rose in {fact.rises} stairs through all "
            f"{fact.updates} updates and ended at {float(fact.rate):.3g}, {share:.3g} % of the "
            f"{float(fact.built):.3g} it was built with; expected a warm-up that ends early in the run: {stepped} is "
            f"stepped every {fact.updates / (fact.rises + 1):.0f} updates. Step it after each update.",
            ref=fact.ref,
            place=Place(frame=own_step(fact) or fact.scheduler_frame or fact.rate_frame or fact.frame),
            rate=float(fact.rate),
            built=float(fact.built),
        )


def own_step(fact: RateHistory) -> Frame | None:
    """The program's line that steps the scheduler; None where it only starts a trainer that does."""
    line = fact.step_frame
    return line if line is not None and (not line.code or "step" in line.code or not fact.scheduler_frame) else None
