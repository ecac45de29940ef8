"""Does each optimizer use the gradients of its own objective alone?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.critic_gradient import CriticGradient
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class ObjectivesMixed(Check, frozen=True):
    """A critic is updated with the objective of the network that it judges.

    What it catches
        A GAN that clears both networks at the top of the loop: the backward of the generator fills the discriminator
        too, and its own step uses the sum. The same in an actor-critic whose actor goes first.
    Why it matters
        The discriminator is pushed to call forgeries real. Losses look plausible; the pictures are worse.
    How it decides
        In the graph of a backward the gradient of one optimizer's parameters passes through operations on those of
        another one alone. The first one stepped; what the backward left in the other was not cleared (same tensors, not
        0), a backward that does not pass through it added to it, and its own update used the sum. Seen in `updates`
        updates. A part that several losses share is no such network: their gradients meet in it and pass on to no one.
    What to do
        Clear the critic just before the backward of its own loss.
    Example
        step 1, rank 0: Adam (gan.py:125) updates 14 parameters with the gradient that the backward of line 159 left in
        them, whose objective is that of Adam (gan.py:124), in 2 updates; expected that of line 171 alone. Call
        zero_grad of that optimizer just before line 171.
    """

    needs: ClassVar[tuple[type[CriticGradient]]] = (CriticGradient,)
    kind: ClassVar[str] = "stale_gradients"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.9
    remedies: ClassVar[tuple[str, ...]] = (
        "call zero_grad of the critic's optimizer just before the backward of its own loss",
        "or freeze the critic while the other one learns: critic.requires_grad_(False)",
    )
    family: ClassVar[str] = "order"
    proved_by: ClassVar[str] = "optimizer/forged_tickets"

    updates: int = 2
    """Updates of one optimizer (ours)."""

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield one finding per pair."""
        memory = window.memory(self)
        for fact in window.new(CriticGradient):
            seen = memory[fact.key()] = [*memory.get(fact.key(), []), fact]
            if len(seen) == self.updates:
                yield self.describe(window, seen[0])

    def describe(self, window: Window, fact: CriticGradient) -> Finding:
        """Build the finding with both objectives."""
        left = fact.backward.line if fact.backward else "?"
        own = fact.added.line if fact.added else "?"
        return self.finding(
            window,
            "warning",
            f"{fact.kind}{spot(fact.built)} updates {fact.parameters} parameters with the gradient that the backward "
            f"of line {left} left in them, whose objective is that of {fact.other_kind}{spot(fact.other_built)}, in "
            f"{self.updates} updates; expected that of line {own} alone. Call zero_grad of that optimizer just before "
            f"line {own}.",
            ref=fact.ref,
            place=Place(frame=fact.cleared or fact.backward, symptom_frame=fact.step),
            parameters=float(fact.parameters),
        )
