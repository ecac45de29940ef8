"""Is what a line computes kept?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.discarded_result import DiscardedResult
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class ResultDiscarded(Check, frozen=True):
    """A line changes a tensor and throws the change away.

    What it catches
        `p.data.clamp(-c, c)` where `clamp_` was meant, `scores.masked_fill(mask, -inf)` without `scores =`,
        `grad.mul(0.5)`.
    Why it matters
        Without the underscore the function gives a new tensor and leaves the old one as it is: weights are not clipped,
        the mask masks nothing, and no error says so.
    How it decides
        The line that called the function drops its result (the next instruction of its bytecode does), the same
        function exists in place, and the result was not what went in: some of its values were others. Lines of
        libraries, views and casts do not count.
    What to do
        Add the underscore, or assign the result.
    Example
        step 0, rank 0: the result of clamp (wgan.py:143) is thrown away, though 61 % of its values are others than
        those that went in; expected that it is kept. Write clamp_, or assign the result.
    """

    needs: ClassVar[tuple[type[DiscardedResult]]] = (DiscardedResult,)
    kind: ClassVar[str] = "result_discarded"
    confidence: ClassVar[float] = 0.9
    remedies: ClassVar[tuple[str, ...]] = (
        "call the function with an underscore, which writes in place, or assign its result",
    )
    proved_by: ClassVar[str] = "model/harbour_critic"

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield one finding a line; the observer tells each once."""
        for fact in window.new(DiscardedResult):
            yield self.finding(
                window,
                "warning",
                f"the result of {fact.function}{spot(fact.frame)} is thrown away, though {share(fact)} of its values "
                f"are others than those that went in; expected that it is kept. Write {fact.twin}, or assign the "
                "result.",
                ref=fact.ref,
                place=Place(frame=fact.frame),
                changed=float(fact.changed),
            )


def share(fact: DiscardedResult) -> str:
    """Format the share of changed values: `61 %`, `less than 1 %`."""
    percent = 100 * float(fact.changed)
    return f"{percent:.0f} %" if percent >= 1 else "less than 1 %"
