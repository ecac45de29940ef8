"""Did each parameter get its own state back?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.counted import counted
from debugtracer.trace.facts.checkpoint import Resumed
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class StateMisplaced(Check, frozen=True):
    """An optimizer state was loaded into parameters of another order.

    What it catches
        Parameter groups built in another order at the resume: sorted names, a set, head before body.
    Why it matters
        An optimizer hands its moments out by place. Where shapes are equal nothing fails, and each parameter moves with
        the history of another.
    How it decides
        The names at each place of the optimizer at the save and at the first update after the load, when the same run
        did both.
    What to do
        Build the groups in the order of the save.
    Example
        step 60, rank 0: 4 parameters got the state of another one (b.weight <- a.weight, ...) when the optimizer's
        state was loaded (train.py:44); expected the order of the save. Build the groups in one order.
    """

    needs: ClassVar[tuple[type[Resumed]]] = (Resumed,)
    at_end: ClassVar[bool] = True
    kind: ClassVar[str] = "resume_state"
    exact: ClassVar[bool] = True
    remedies: ClassVar[tuple[str, ...]] = (
        "build the parameter groups in the order they had at the save (list(model.parameters()), no set, no sorting)",
    )
    proved_by: ClassVar[str] = "rollback/groups_by_name"

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield an error at the first update after the load."""
        for fact in window.new(Resumed):
            if fact.misplaced:
                yield self.finding(
                    window,
                    "error",
                    f"{counted(len(fact.misplaced), 'parameter')} got the state of another one "
                    f"({fact.misplaced[0]}, ...) when "
                    f"the optimizer's state was loaded{spot(fact.optimizer_load_frame)}; expected the order of the "
                    "save. Build the groups in one order.",
                    ref=fact.ref,
                    place=Place(
                        param=fact.misplaced[0].split(" ")[0],
                        frame=fact.optimizer_load_frame,
                        symptom_frame=fact.load_frame,
                    ),
                    misplaced=len(fact.misplaced),
                )
