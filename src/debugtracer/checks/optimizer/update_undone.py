"""Does an update last until the next one?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.facts.undone_round import UndoneRound
from debugtracer.trace.facts.undone_update import UndoneUpdate
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window

OVERWRITTEN = (
    "write the old values back before step(), not after it: what is written last stays",
    "where a copy is meant, write the weights into the copy",
)
"""What helps where a line puts other values into the weights."""


class UpdateUndone(Check, frozen=True):
    """Each update is taken back before the next one begins.

    What it catches
        An average of the weights (EMA) whose two models are exchanged, so that the trained one is set to the copy; a
        best or first state that is loaded in each step; a wrapper that writes its own master copy over the weights. An
        old policy that is loaded into the new one after the epochs of each PPO update, in place of the other way round.
    Why it matters
        Every batch is learnt from the same weights and forgotten. The loss stands still, and nothing fails.
    How it decides
        A sample of each parameter before an update, after it, and when the next update of the same optimizer begins.
        All that the update moved are bit for bit what they were before it, in `looks` updates running. Where the state
        of the optimizer is loaded in between, too, each update starts anew on purpose (test-time adaptation). The line
        is that of the load, else the first one after it that puts another value in the place of a parameter's.
        Many updates: load_state_dict gives a module what it gave it the last time, bit for bit, `rounds` times running.
        The updates between had moved it, and after the last of them nothing ran and its state was not read, so that
        they served nobody: the tasks of a meta-learner and the clients of federated averaging are read before they are
        loaded again. Where another optimizer trains the weights that are loaded, it is an inner loop.
    What to do
        Look at the call that writes the weights after step(): exchange its two models, or do it once.
    Example
        step 0, rank 0: 6 parameters (0.weight, ...) that AdamW (train.py:30) moved were bit for bit what they had been
        when its next update began, in 3 updates running: a state is loaded into them (train.py:41); expected weights
        that stay. Load it into the copy.
    """

    needs: ClassVar[tuple[type[Fact], ...]] = (UndoneUpdate, UndoneRound)
    kind: ClassVar[str] = "parameters_not_updated"
    symptom: ClassVar[str] = "no_learning"
    confidence: ClassVar[float] = 0.95
    exact: ClassVar[bool] = True
    remedies: ClassVar[tuple[str, ...]] = (
        "give the copy and the trained model in the right order: the copy is what is written",
        "load a saved state once, before the loop",
    )
    proved_by: ClassVar[str] = "optimizer/lamp_averages"

    looks: int = 3
    """Updates running (ours: a step may be taken back once, by a line search or after a bad loss)."""

    rounds: int = 8
    """Loads running that undo all updates since the load before (ours: more than the 5 tasks of a batch in Reptile)."""

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield one finding per optimizer, or per module that is loaded."""
        memory = window.memory(self)
        for fact in window.new(UndoneUpdate):
            undone = 0 < fact.moved == fact.back and not fact.reset
            seen = memory[fact.optimizer] = [*memory.get(fact.optimizer, []), fact] if undone else []
            if len(seen) == self.looks:
                yield self.describe(window, seen[0])
        for many in window.new(UndoneRound):
            lost = many.updates > 1 and many.moved and many.back and not many.used and not many.outer
            name = f"module {many.module}"
            known = memory[name] = [*memory.get(name, []), many] if lost else []
            if len(known) == self.rounds:
                yield self.describe_rounds(window, known)

    def describe(self, window: Window, fact: UndoneUpdate) -> Finding:
        """Build the finding with who writes the weights, where that is known."""
        more = ", ..." if fact.back > 1 else ""
        by = f": a state is loaded into them{spot(fact.loaded)}" if fact.loaded is not None else ""
        if fact.loaded is None and fact.written is not None:
            by = f": another value is written over them after it{spot(fact.written)}"
        advice = "Load it into the copy." if fact.loaded else "Look at what writes the weights after step()."
        return self.finding(
            window,
            "error",
            f"{fact.back} parameters ({fact.params[0]}{more}) that {fact.kind}{spot(fact.built)} moved were bit for "
            f"bit what they had been when its next update began, in {self.looks} updates running{by}; expected weights "
            f"that stay. {advice}",
            ref=fact.ref,
            place=Place(
                param=fact.params[0], frame=fact.loaded or fact.written or fact.built, symptom_frame=fact.loads
            ),
            remedies=OVERWRITTEN if fact.loaded is None and fact.written is not None else (),
            back=float(fact.back),
        )

    def describe_rounds(self, window: Window, seen: list[UndoneRound]) -> Finding:
        """Build the finding at the load."""
        fact = seen[-1]
        updates = sorted(one.updates for one in seen)
        many = str(updates[0]) if updates[0] == updates[-1] else f"{updates[0]} to {updates[-1]}"
        return self.finding(
            window,
            "warning",
            f"load_state_dict{spot(fact.loads)} gives {fact.name} bit for bit the weights that it gave it the last "
            f"time, {self.rounds} times running: the {many} updates of {fact.kind}{spot(fact.built)} between two loads "
            f"are written over each time, and nothing ran or read the weights in between; expected updates that stay. "
            f"Load the trained weights into the copy, not the copy into the trained model.",
            ref=seen[0].ref,
            place=Place(frame=fact.loads or fact.built, symptom_frame=fact.built),
            confidence=0.9,
            exact=False,
            updates=float(updates[-1]),
        )
