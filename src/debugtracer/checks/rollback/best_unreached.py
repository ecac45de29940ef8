"""Can the condition that keeps the best model ever hold?"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.best_kept import BestKept
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.number import as_float
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class BestUnreached(Check, frozen=True):
    """The best value begins where no value can be better, so the weights of no evaluation are kept.

    What it catches
        `best_loss = 0.0` before `if val_loss < best_loss:`; `best = float("inf")` before `if accuracy > best:`.
    Why it matters
        The model that is loaded, tested and shipped at the end is the untrained one, or none was ever saved.
    How it decides
        In `fewest` evaluations in a row a condition of the program that keeps weights, and would take the value for the
        best, has left the best value as it was: at 0 where less is better and all values are above 0, or at an infinity
        that nothing is better than. A best value that was loaded or measured is neither.
    What to do
        Begin at inf where the least counts, and at -inf where the largest does.
    Example
        step 114, rank 0: `val_loss < best_loss` (train.py:44) has kept no evaluation of 3: best_loss is 0 as it was set
        (train.py:34), val_loss has come to 0.412 at best; expected a start that a loss can be below. Set it to
        float("inf").
    """

    needs: ClassVar[tuple[type[BestKept]]] = (BestKept,)
    kind: ClassVar[str] = "best_reversed"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.9
    remedies: ClassVar[tuple[str, ...]] = (
        'begin at float("inf") where the least value counts, at -float("inf") where the largest does',
    )
    proved_by: ClassVar[str] = "rollback/cellar_scores"

    fewest: int = 3  # evaluations in a row (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Count the evaluations of each condition; said once."""
        memory = window.memory(self)
        for fact in window.new(BestKept):
            value, best = as_float(fact.value), as_float(fact.best) if fact.best is not None else math.nan
            values = memory.setdefault(fact.keeper, [])
            if values is None or not fact.own or math.isnan(best) or math.isnan(value):
                continue
            values.append(value)
            if not self.is_out_of_reach(best, values, fact.mode):
                memory[fact.keeper] = None
            elif len(values) >= self.fewest:
                memory[fact.keeper] = None
                yield self.describe(window, fact, best, values)

    def is_out_of_reach(self, best: float, values: list[float], mode: str) -> bool:
        """Whether no value was better, and none of their kind can be."""
        if mode == "max":
            return best == math.inf
        return best == -math.inf or (best == 0 and min(values) > 0)

    def describe(self, window: Window, fact: BestKept, best: float, values: list[float]) -> Finding:
        """Build the finding at the line that sets the best value."""
        least = fact.mode == "min"
        start = 'float("inf")' if least else '-float("inf")'
        name = fact.owner.replace("<", ">").replace("=", "").split(">")
        came = (min if least else max)(values)
        other = next((side.strip() for side in name if side.strip() != fact.monitor), "the best value")
        return self.finding(
            window,
            "warning",
            f"`{fact.owner}`{spot(fact.frame)} has kept no evaluation of {len(values)}: {other} is {best:g} as it was "
            f"set{spot(fact.begun)}, {fact.monitor} has come to {came:.3g} at best; expected "
            f"a start that a value can be {'below' if least else 'above'}. Set it to {start}.",
            ref=fact.ref,
            place=Place(frame=fact.begun or fact.frame, symptom_frame=fact.frame if fact.begun is not None else None),
            evaluations=float(len(values)),
        )
