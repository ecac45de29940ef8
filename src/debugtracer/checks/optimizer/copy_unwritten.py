"""Does a target network follow what it makes targets for?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.bootstrap_mask import BootstrapMask
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.facts.unwritten_copy import UnwrittenCopy
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class CopyUnwritten(Check, frozen=True):
    """A target network values the next states, and no line of the program ever writes it.

    What it catches
        `target.load_state_dict(online.state_dict())` where the agent is built, and nowhere else.
    Why it matters
        The targets are those of the untrained network for ever: each value is learnt one step ahead of random ones.
        The loss falls all the same.
    How it decides
        A model with the parameters of a trained one, near it at the start, in no optimizer and without gradients, is
        called without a graph and is bit for bit what it was in three inspected steps, while the other moved. In the
        files of the program its name is built once and filled there at most; all other lines call it, set its mode or
        freeze it. And the values of next states are discounted, masked where an episode ends, added to rewards and
        learnt: a teacher or a reference of a preference tuning is none of this.
    What to do
        Copy the weights now and then, or blend them in each step.
    Example
        step 2, rank 0: QNet (agent.py:31), target_net, values the next states (agent.py:52) and has not moved in 2
        updates; it is filled where it is built (agent.py:32) and no line writes it again; expected a copy that follows.
        Call target_net.load_state_dict(...) every few hundred updates.
    """

    needs: ClassVar[tuple[type[Fact], ...]] = (UnwrittenCopy, BootstrapMask)
    kind: ClassVar[str] = "average_not_updated"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.9
    remedies: ClassVar[tuple[str, ...]] = (
        "copy the weights every few hundred updates: target.load_state_dict(model.state_dict())",
        "or blend them in each step: p_target.lerp_(p, 0.005) under no_grad",
    )
    proved_by: ClassVar[str] = "optimizer/tram_doors"

    def judge(self, window: Window) -> Iterator[Finding]:
        """Tell a copy once a bootstrap was seen; said once."""
        waiting: list[UnwrittenCopy] = window.memory(self).setdefault("waiting", [])
        waiting += window.new(UnwrittenCopy)
        masks = window.seen(BootstrapMask)
        while waiting and masks:
            yield self.describe(window, waiting.pop(0))

    def describe(self, window: Window, fact: UnwrittenCopy) -> Finding:
        """Build the finding at the line that fills the copy."""
        return self.finding(
            window,
            "warning",
            f"{fact.module}, {fact.name}, values the next states{spot(fact.called)} and has not moved in "
            f"{fact.updates} updates; it is filled where it is built{spot(fact.made)} and no line writes it again; "
            f"expected a copy that follows. Call {fact.name}.load_state_dict(...) every few hundred updates.",
            ref=fact.ref,
            place=Place(frame=fact.made, symptom_frame=fact.called),
            moved=float(fact.apart),
        )
