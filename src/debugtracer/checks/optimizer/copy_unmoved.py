"""Is an average of the weights ever written?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.blended_copy import BlendedCopy
from debugtracer.trace.file_line import file_line
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window

EXCHANGED = "the parameter and its copy are exchanged, and the parameter is pulled to the copy. Exchange them"
REMEDIES_EXCHANGED = (
    "exchange the two networks where the average is called: the copy is the one that is written",
    "or keep more of the copy than is taken of the parameter, and write in place",
)


class CopyUnmoved(Check, frozen=True):
    """A copy of the weights is averaged with them in each step, and the result is never written to it.

    What it catches
        `s = decay * s + (1 - decay) * p` in a loop over parameters, which binds a name and writes no weight; an EMA or
        a target network whose two sides are exchanged, so that it is given its own weights. One whose two factors are
        exchanged, so that it is nearly the parameter itself.
    Why it matters
        Training looks as ever, and what is evaluated (or what the targets are made with) is the untrained network.
    How it decides
        In two inspected steps the same tensor and a parameter of its shape were multiplied with two numbers that add
        up to 1, without a graph. After them the parameter has moved and the tensor is bit for bit what it was, though
        the average, written to it, changes at least half of its elements. Where less of the copy is kept than of the
        parameter is taken, or the average is written to the parameter in place (of a copy that is a network that runs),
        the two are said to be exchanged, at the line that calls the function that averages. A copy that does move, and
        takes over more than 0.9 of the parameter, and not all of it, in two updates running, with the same
        two factors, has them exchanged.
    What to do
        Write in place: `s.mul_(decay).add_(p, alpha=1 - decay)`, or `s.lerp_(p, 1 - decay)`.
    Example
        step 2, rank 0: ema.py:16 averages a copy of c1.weight (0.98 of it, 0.02 of the parameter), and after 2 looks
        the copy is bit for bit what it was though the parameter moved by 0.012 of its norm; expected a copy that
        follows. Write in place: s.lerp_(p, 0.02).
    """

    needs: ClassVar[tuple[type[BlendedCopy]]] = (BlendedCopy,)
    kind: ClassVar[str] = "average_not_updated"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.95
    remedies: ClassVar[tuple[str, ...]] = (
        "write in place, under torch.no_grad(): s.mul_(decay).add_(p, alpha=1 - decay)",
        "or use torch.optim.swa_utils.AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(decay))",
    )
    proved_by: ClassVar[str] = "optimizer/averaged_turbine"

    def judge(self, window: Window) -> Iterator[Finding]:
        """Judge each line once."""
        for fact in window.new(BlendedCopy):
            if fact.forgets:
                yield self.forgetting(window, fact)
                continue
            line = file_line(fact.frame) if fact.frame is not None else "a line of the loop"
            exchanged = fact.written or float(fact.kept) < float(fact.taken)
            called = fact.called if exchanged else None
            advice = swapped(fact) if exchanged else f"Write in place: s.lerp_(p, {float(fact.taken):.4g})."
            yield self.finding(
                window,
                "warning",
                f"{line} averages a copy of {fact.param or 'a weight'} "
                f"({float(fact.kept):.4g} of it, {float(fact.taken):.4g} of the parameter), and after {fact.looks} "
                f"looks the copy is bit for bit what it was though the parameter moved by {float(fact.moved):.2g} of "
                f"its norm; expected a copy that follows. {advice}",
                ref=fact.ref,
                place=Place(
                    frame=called or fact.frame, param=fact.param or None, symptom_frame=fact.frame if called else None
                ),
                remedies=REMEDIES_EXCHANGED if exchanged else (),
                moved=float(fact.moved),
            )

    def forgetting(self, window: Window, fact: BlendedCopy) -> Finding:
        """Build the finding of a copy that keeps nothing of itself."""
        line = file_line(fact.frame) if fact.frame is not None else "a line of the loop"
        kept, taken = float(fact.kept), float(fact.taken)
        return self.finding(
            window,
            "warning",
            f"{line} averages a copy of {fact.param or 'a weight'} ({kept:.4g} of it, {taken:.4g} of the parameter) in "
            f"{fact.looks} updates running: the copy is nearly the parameter itself; expected one that keeps most of "
            f"itself. Exchange the two factors: s.lerp_(p, {kept:.4g}).",
            ref=fact.ref,
            place=Place(frame=fact.frame, param=fact.param or None),
            kind="average_forgets",
            confidence=0.8,
            remedies=(
                f"exchange the two factors: s.lerp_(p, {kept:.4g})",
                "or, where the copy is to be the parameter itself, copy it: s.copy_(p)",
            ),
            taken=taken,
        )


def swapped(fact: BlendedCopy) -> str:
    """What is said of two networks with exchanged roles, and where they are given."""
    where = f"where {file_line(fact.called)} calls this" if fact.called is not None else "where this is called"
    why = "The average is written to the parameter" if fact.written else "A copy that follows keeps most of itself"
    return f"{why}: {EXCHANGED} {where}."
