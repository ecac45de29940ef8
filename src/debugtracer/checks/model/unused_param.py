"""Does every parameter of the optimizer ever take part?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.counted import counted
from debugtracer.trace.facts.graph_reach import GraphReach
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import LOSS, Window


class UnusedParam(Check, frozen=True):
    """Parameters that an optimizer holds never take part.

    What it catches
        A branch that is not called, a layer left over from an older version.
    Why it matters
        It costs memory and, under DDP, an error; sometimes the branch was meant to be called.
    How it decides
        Trainable parameters of an optimizer had no gradient and were no argument of the forward in every inspected
        step, the last one (or the end of the run) at least `steps` updates after the first; one that has a state in
        its optimizer had a gradient before. Experts of a mixture, heads of other tasks and
        alternating phases may rest that long, so it is a note.
    What to do
        Call the branch, or remove it.
    Example
        step 100, rank 0: 2 parameters (old_head.weight, ...) that Adam holds took no part in 4 inspected steps;
        expected each one to be used. Call the branch or remove it.
    """

    needs: ClassVar[tuple[str | type[GraphReach], ...]] = (GraphReach, LOSS)
    at_end: ClassVar[bool] = True
    kind: ClassVar[str] = "detached_graph"
    confidence: ClassVar[float] = 0.4
    remedies: ClassVar[tuple[str, ...]] = ("call the branch", "or remove it from the model")
    proved_by: ClassVar[str] = "model/features_cut"

    steps: int = 50
    """Updates between the first and the last look (experts, branches and two optimizers leave one out for a few)."""

    def judge(self, window: Window) -> Iterator[Finding]:
        """The names that were idle in every look."""
        memory = window.memory(self)
        for fact in window.new(GraphReach):
            first, names, looks, _ = memory.get(fact.number, (fact, set(fact.idle), 0, fact))
            memory[fact.number] = first, names & set(fact.idle), looks + 1, fact
        for number, (first, names, looks, last) in list(memory.items()):
            if (
                names
                and looks > 1
                and (window.ref if window.ended else last.ref).step - first.ref.step >= self.steps
                and ("told", number) not in memory
            ):
                memory["told", number] = first, set(), 0, last
                shown = [name for name in first.idle if name in names]
                yield self.finding(
                    window,
                    "note",
                    f"{counted(len(names), 'parameter')} ({shown[0]}{', ...' * (len(names) > 1)}) that "
                    f"{first.optimizer} holds took no part in "
                    f"{looks} inspected steps; expected each one to be used. Call the branch or remove it.",
                    place=Place(param=shown[0], module=shown[0].rpartition(".")[0] or None, frame=first.built),
                    parameters=float(len(names)),
                )
