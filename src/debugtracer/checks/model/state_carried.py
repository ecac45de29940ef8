"""Does the state of a recurrent layer belong to the samples it is given?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.carried_state import CarriedState
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class StateCarried(Check, frozen=True):
    """A recurrent layer begins each batch with the state that the batch before has left, of other samples.

    What it catches
        `out, h = rnn(x, h.detach())` in a loop over a shuffled DataLoader, or a state kept on the model: detached, as a
        tutorial on long streams does it, where each row is a sample of its own.
    Why it matters
        Row 3 begins with the past of whatever sample was row 3 before: noise that depends on the order of the batches.
        What is learnt leans on it, and an evaluation that begins with zeros is another model.
    How it decides
        In the first batches: the state that goes in is, value by value, the one that came out in the batch before, and
        the rows of both are known by their dataset indices, which do not go on by the same step in all rows, as those
        of streams do. Twice.
    What to do
        Begin each batch with zeros: leave the state out.
    Example
        step 1, rank 0: the GRU r (model.py:14) begins with the state that it left in the batch before, in 2
        batches; row 0 was sample 311 there and is sample 20 now, and so on (train.py:9); expected zeros for
        samples of their own. Leave the state out, or begin it anew in each batch.
    """

    needs: ClassVar[tuple[type[CarriedState]]] = (CarriedState,)
    kind: ClassVar[str] = "state_carried"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.9
    remedies: ClassVar[tuple[str, ...]] = (
        "call the layer without a state, or make zeros in each batch",
        "for stretches of long streams: a sampler that gives each row its next stretch",
    )
    proved_by: ClassVar[str] = "model/ferry_swell"

    looks: int = 2
    """Batches in which it is so (ours)."""

    def judge(self, window: Window) -> Iterator[Finding]:
        """Count the batches of each layer; said once."""
        memory = window.memory(self)
        for fact in window.new(CarriedState):
            looks = memory.setdefault(fact.module, {})
            if len(looks) >= self.looks:
                continue
            looks[fact.ref.iteration] = fact
            if len(looks) == self.looks:
                yield self.describe(window, next(iter(looks.values())))

    def describe(self, window: Window, fact: CarriedState) -> Finding:
        """Build the finding at the line that keeps the state."""
        name = f"the {fact.layer} {fact.module}" if fact.module else f"the {fact.layer}"
        return self.finding(
            window,
            "warning",
            f"{name}{spot(fact.frame)} begins with the state that it left in the batch before, in "
            f"{self.looks} batches; row 0 was sample {fact.before[0]} there and is sample "
            f"{fact.now[0]} now, and so on{spot(fact.loader)}; expected zeros for samples of their own. Leave the "
            "state out, or begin it anew in each batch.",
            ref=fact.ref,
            place=Place(module=fact.module or None, frame=fact.made or fact.frame, symptom_frame=fact.frame),
            rows=float(fact.rows),
        )
