"""Do the terms of a policy's loss pull where they are meant to?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.checks.optimizer.sequence import spot
from debugtracer.trace.facts.policy_term import PolicyTerm
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class PolicyTermWrong(Check, frozen=True):
    """The loss of a policy adds its entropy, or trains the values by the advantage.

    What it catches
        `loss = policy_loss + 0.5 * value_loss + 0.01 * entropy`, where the entropy is to be subtracted;
        `-(log_prob * (returns - values)).mean()` without `detach`.
    Why it matters
        Descent on an entropy makes the policy sure of what it does by chance. An advantage that hangs on the graph
        moves the values so that likely actions look good, against the loss that fits them to the returns.
    How it decides
        By the graph of the loss, in inspected steps. An entropy of torch.distributions raises the loss while the
        log-probabilities of actions, times something, lower it. Or a log-probability is multiplied with a difference of
        two tensors that hangs on the graph, and that reaches parameters which the log-probability does not reach and
        another term of the same loss trains.
    What to do
        `- c * entropy`; `advantage.detach()` in the loss of the policy.
    Example
        step 0, rank 0: the loss adds the entropy of the policy (train.py:31) and subtracts the log-probabilities of its
        actions: each update lowers the entropy, so the policy stops exploring; expected it subtracted. Write - c *
        entropy.
    """

    needs: ClassVar[tuple[type[PolicyTerm]]] = (PolicyTerm,)
    kind: ClassVar[str] = "loss_misuse"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.93
    proved_by: ClassVar[str] = "model/otter_dives"

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield one finding a line; what the program does in each look is told once."""
        memory = window.memory(self)
        for fact in window.new(PolicyTerm):
            if fact.key() in memory:
                continue
            memory[fact.key()] = True
            said, remedies = entropy(fact) if fact.term == "entropy" else advantage(fact)
            yield self.finding(
                window,
                "warning",
                said,
                ref=fact.ref,
                place=Place(frame=fact.frame, symptom_frame=fact.made if fact.made != fact.frame else None),
                remedies=remedies,
            )


def entropy(fact: PolicyTerm) -> tuple[str, tuple[str, ...]]:
    """Say what a sum does to the policy, and how to mend it."""
    return (
        f"the loss adds the entropy of the policy{spot(fact.frame)} and subtracts the log-probabilities of its "
        "actions: each update lowers the entropy, so the policy stops exploring; expected it subtracted. Write - c * "
        "entropy.",
        ("subtract the entropy: loss = policy_loss + 0.5 * value_loss - c * entropy", "print the entropy over the run"),
    )


def advantage(fact: PolicyTerm) -> tuple[str, tuple[str, ...]]:
    """Say what a product does to the values, and how to mend it."""
    made = f", made at {spot(fact.made).strip(' ()')}," if fact.made is not None else ""
    return (
        f"the log-probabilities are multiplied{spot(fact.frame)} with a difference{made} that hangs on the graph: the "
        f"loss of the policy also moves {fact.parameters} tensors of weights that make the values, which another term "
        "of the loss fits; expected a number. Use advantage.detach() there.",
        ("detach it in the loss of the policy: -(log_prob * advantage.detach()).mean()",
         "or make the values for it under torch.no_grad()"),
    )  # fmt: skip
