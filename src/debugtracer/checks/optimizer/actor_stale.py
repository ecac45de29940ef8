"""Does the model that acts get the weights of the one that is trained?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.acting_copy import ActingCopy
from debugtracer.trace.file_line import file_line, spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class ActorStale(Check, frozen=True):
    """A copy of the trained model acts in its place, round after round, with the weights that it began with.

    What it catches
        A policy that samples actions (`policy_old`, a behaviour network, a worker's network) and is not given the new
        weights at the end of an update.
    Why it matters
        What is trained is never used: the episodes are those of the untrained network for ever, and the ratios of new
        to old probabilities run away.
    How it decides
        A model with the parameters of a trained one, near it at the start, in no optimizer and without gradients, is
        called without a graph in at least `rounds` rounds with updates between them, and in each many times (eight, as
        the steps of an episode; a teacher or a target is called once or twice). It is given little at a time, and its
        original at least four times as much; the original itself is never called without a graph, so nothing else acts.
        It does not go through the rows of one tensor in their order, as a teacher may through those of a batch.
        The copy is bit for bit what it was when the run ends, or at the last look, while the original moved: one that
        is written every so many rounds, as actors and opponents are, has moved by then. Said when the run is over.
    What to do
        Copy the weights when an update is over: `policy_old.load_state_dict(policy.state_dict())`. If a fixed behaviour
        is meant (evaluation off policy), nothing.
    Example
        step 160, rank 0: Sequential (ppo.py:91) acts in 20 rounds with the weights that it began with, while the model
        trained at ppo.py:245 is 0.12 of its norm away after 760 updates; expected the new weights in each round. Copy
        them behind that line, when the update is over.
    """

    needs: ClassVar[tuple[type[ActingCopy]]] = (ActingCopy,)
    kind: ClassVar[str] = "average_not_updated"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.65
    remedies: ClassVar[tuple[str, ...]] = (
        "when the update is over: acting.load_state_dict(trained.state_dict())",
        "if a fixed behaviour is meant (evaluation off policy), nothing",
    )
    proved_by: ClassVar[str] = "optimizer/lighthouse_rounds"

    rounds: int = 16
    """Rounds in which it acted (ours; the observer tells of none that acted in fewer than 16)."""

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield one finding for each copy."""
        for fact in window.new(ActingCopy):
            if fact.rounds < self.rounds:
                continue
            trained = f"trained at {file_line(fact.frame)}" if fact.frame is not None else "trained beside it"
            yield self.finding(
                window,
                "warning",
                f"{fact.module}{spot(fact.called)} acts in {fact.rounds} rounds with the weights that it began with, "
                f"while the model {trained} is {float(fact.apart):.2g} of its norm away after {fact.updates} updates; "
                "expected the new weights in each round. Copy them behind that line, when the update is over.",
                ref=fact.ref,
                place=Place(frame=fact.frame, symptom_frame=fact.called),
                moved=float(fact.apart),
            )
