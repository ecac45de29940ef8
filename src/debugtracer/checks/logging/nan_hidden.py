"""Does the log show the losses that were not finite?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.logged import Logged
from debugtracer.trace.finding import Finding
from debugtracer.trace.number import as_float
from debugtracer.trace.window import Window


class NanHidden(Check, frozen=True):
    """The Hugging Face Trainer logs a finite loss although losses were NaN.

    What it catches
        `logging_nan_inf_filter=True`, the default: a NaN loss is replaced by the mean of the others in the log.
    Why it matters
        The curve looks healthy while the weights may be lost.
    How it decides
        Losses of backward calls that were not finite since the last logged value, with the filter on.
    What to do
        logging_nan_inf_filter=False, and look for the first such loss.
    Example
        step 20, rank 0: the Trainer logged loss 0.693 although 2 losses since the last log were not finite
        (logging_nan_inf_filter); expected them in the log. Set logging_nan_inf_filter=False.
    """

    needs: ClassVar[tuple[type[Logged]]] = (Logged,)
    at_end: ClassVar[bool] = True
    remedies: ClassVar[tuple[str, ...]] = ("TrainingArguments(logging_nan_inf_filter=False)",)
    exact: ClassVar[bool] = True
    unproved: ClassVar[str] = "mode dev stops at the first NaN, before the Trainer logs"

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield a finding at the log that hides non-finite losses."""
        for fact in window.new(Logged):
            if fact.hidden:
                yield self.finding(
                    window,
                    "warning",
                    f"the Trainer logged {fact.name} {as_float(fact.value):.4g} although {fact.hidden} losses since "
                    "the last log were not finite "
                    "(logging_nan_inf_filter); expected them in the log. Set logging_nan_inf_filter=False.",
                    ref=fact.ref,
                    hidden=fact.hidden,
                )
