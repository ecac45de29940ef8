"""Does a hand-written backward ever pass something on?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.zero_backward import ZeroBackward as Fact
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class ZeroBackward(Check, frozen=True):
    """An autograd.Function of the program's passes back exactly 0 in every look, whatever comes in.

    What it catches
        A reversed or scaled gradient whose factor never leaves 0: a schedule that divides integers, a progress that is
        never counted, a wrong argument.
    Why it matters
        What lies before the function learns nothing of the loss behind it. Other terms still train it, so no parameter
        is without a gradient, and the term itself falls as if all were well.
    How it decides
        Steps 0, 1, 2, 3, 4, 6, 8, 12 and so on are looked at, and the step after each. In all of them, at least `looks`
        that lie `apart` steps apart and reach to the end of the run, gradients came in that were not 0, and all that it
        gave were; told at the end, for a factor may rise late. One that gives None is left alone. Where the zeros have
        the other sign than what came in, or would with a factor of 1, a gradient was to be turned round, which nobody
        writes to stop it: a warning. Other zeros may be meant (a part that is frozen by a factor of 0): a note.
    What to do
        Print the factor; a function that is to stop the gradient is `x.detach()`.
    Example
        step 0, rank 0: backward of Reverse (functions.py:16) is to turn its gradient round and gave exactly 0 in 18 of
        18 looks at steps 0..193, and 128 values that were not all 0 came in; its alpha (train.py:66) is 0; expected a
        factor that leaves 0. Print it.
    """

    needs: ClassVar[tuple[type[Fact]]] = (Fact,)
    at_end: ClassVar[bool] = True
    kind: ClassVar[str] = "detached_graph"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.9
    remedies: ClassVar[tuple[str, ...]] = (
        "print the factor of the backward over the run: a schedule with // or of integers stays at 0",
        "where the gradient is to be stopped, use x.detach(), which says so",
    )
    family: ClassVar[str] = "gradient"
    proved_by: ClassVar[str] = "model/borrowed_lens"

    looks: int = 5
    """In which a gradient came in (ours)."""
    apart: int = 50
    """Steps from the first to the last (ours: a factor may rise from 0)."""

    def judge(self, window: Window) -> Iterator[Finding]:
        """Judge each function when the run is over."""
        if not window.ended:
            return
        by_function: dict[object, list[Fact]] = {}
        for fact in window.seen(Fact):
            by_function.setdefault((fact.function, fact.frame), []).append(fact)
        for seen in by_function.values():
            far = seen[-1].ref.step - seen[0].ref.step
            if len(seen) >= self.looks and far >= self.apart and all(fact.zero for fact in seen):
                yield self.describe(window, seen)

    def describe(self, window: Window, seen: list[Fact]) -> Finding:
        """Build the finding at the line that wrote the factor, else at that of the backward."""
        first, last = seen[0], seen[-1]
        reverses = all(fact.reverses for fact in seen)
        name = first.factor if all(fact.factor == first.factor for fact in seen) else ""
        turns = "is to turn its gradient round and " if reverses else ""
        factor = f"; its {name}{spot(first.made)} is 0" if name else ""
        return self.finding(
            window,
            "warning" if reverses else "note",
            f"backward of {first.function}{spot(first.frame)} {turns}gave exactly 0 in "
            f"{len(seen)} of {len(seen)} looks at steps {first.ref.step}..{last.ref.step}, and {first.values} "
            f"values that were not all 0 came in{factor}; expected a factor that leaves 0. Print it.",
            ref=first.ref,
            place=Place(frame=(first.made if name else None) or first.frame, symptom_frame=first.frame),
            looks=float(len(seen)),
        )
