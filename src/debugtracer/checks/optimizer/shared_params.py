"""Is each gradient used by one optimizer?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.checks.optimizer.sequence import running
from debugtracer.trace.facts.order import StepOrder
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class SharedParams(Check, frozen=True):
    """Two optimizers apply the very same gradients to the same parameters.

    What it catches
        Two optimizers built over overlapping parameters and stepped after one backward.
    Why it matters
        These parameters are updated twice per backward, with two learning rates and two states.
    How it decides
        When an optimizer steps, a gradient is the same tensor, unchanged, that another optimizer has used since. Seen
        in two updates running. A shared encoder of an actor and a critic is built so on purpose, therefore it is a
        note, unless all parameters are shared.
    What to do
        Give each parameter to one optimizer.
    Example
        step 1, rank 0: Adam (train.py:18) applies the gradients of 6 of its 6 parameters that another optimizer has
        applied already; expected each gradient to be used once. Give each parameter to one optimizer.
    """

    needs: ClassVar[tuple[type[StepOrder]]] = (StepOrder,)
    kind: ClassVar[str] = "optimizer_params_mismatch"
    confidence: ClassVar[float] = 0.7
    remedies: ClassVar[tuple[str, ...]] = (
        "give each parameter to one optimizer",
        "or clear the gradients and call backward again before the second step",
    )
    proved_by: ClassVar[str] = "optimizer/two_rates"

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield a finding at the optimizer that comes second."""
        for fact in window.new(StepOrder):
            begun = running(window.memory(self), fact, fact.shared > 0)
            if begun is not None:
                yield self.finding(
                    window,
                    "warning" if begun.shared == begun.held else "note",
                    f"{begun.kind}{spot(begun.frame)} applies the gradients of {begun.shared} of its {begun.held} "
                    "parameters that another optimizer has "
                    "applied already; expected each gradient to be used once. Give each parameter to one optimizer.",
                    ref=begun.ref,
                    place=Place(frame=begun.frame),
                    shared=begun.shared,
                    held=begun.held,
                )
