"""Has an average of the weights left its first values when it is evaluated?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.slow_average import SlowAverage
from debugtracer.trace.file_line import file_line, spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class AverageLags(Check, frozen=True):
    """An average of the weights is evaluated, and at the end of the run it is still near its first values.

    What it catches
        A warm-up of the decay of an EMA by `max(decay, (1 + n) / (10 + n))` for `min`; a decay of 0.9999 in a run of a
        few hundred updates.
    Why it matters
        What is evaluated and kept is nearly the untrained network, while the training loss falls as ever.
    How it decides
        A copy of a parameter that began at its values took at most a tenth of it over in each update (measured in
        inspected steps). At the end of a whole run of 50 updates or more since, the product of the shares, and what was
        measured of the copy, are less than a quarter of the way from the first values to the trained weights; and an
        evaluation in the second half of the run was made with weights as near to the first values. A network that runs
        in training makes targets (a target network, a teacher) and is silent, as is an average that goes on from a file
        or that nobody evaluates.
    What to do
        Take the smaller of the two decays, or a decay that fits the length of the run.
    Example
        step 240, rank 0: ema.py:40 gives the average of the weights 0.0001 of them in an update (ema.py:51): after 240
        updates it has covered 2.4% of the way from its first values, and was evaluated there (train.py:198); expected
        most of the way. A warm-up takes min(decay, (1 + n) / (10 + n)).
    """

    needs: ClassVar[tuple[type[SlowAverage]]] = (SlowAverage,)
    at_end: ClassVar[bool] = True
    kind: ClassVar[str] = "average_lags"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.9
    remedies: ClassVar[tuple[str, ...]] = (
        "let the decay grow with the updates: min(decay, (1 + n) / (10 + n))",
        "or take a decay that fits the run: about 1 - 10 / updates",
    )
    proved_by: ClassVar[str] = "optimizer/loom_average"

    def judge(self, window: Window) -> Iterator[Finding]:
        """Judge each line once."""
        for fact in window.new(SlowAverage):
            where = fact.given or fact.frame
            line = file_line(where) if where is not None else "a line of the loop"
            averages = spot(fact.frame) if fact.given is not None else ""
            largest = where is not None and "max(" in where.code
            fits = f"take about {1 - 10 / fact.updates:.4g} in {fact.updates} updates"
            advice = (
                "A warm-up takes the smaller: min(decay, (1 + n) / (10 + n))."
                if largest
                else f"The decay is too near to 1. Let it grow from a small one, or {fits}."
            )
            yield self.finding(
                window,
                "warning",
                f"{line} gives the average of the weights {float(fact.share):.4g} of them in an update{averages}: "
                f"after {fact.updates} updates it has covered {float(fact.covered):.2g} of the way from its first "
                f"values to the trained weights, and it is evaluated there{spot(fact.called)}; expected most of the "
                f"way. {advice}",
                ref=fact.ref,
                place=Place(
                    frame=where, param=fact.param or None, symptom_frame=fact.frame if fact.given is not None else None
                ),
                covered=float(fact.covered),
            )
