"""Do the terms of a policy's loss pull where they are meant to?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.policy_term import PolicyTerm
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class PolicyTermWrong(Check, frozen=True):
    """The loss of a policy adds its entropy, trains the values by the advantage, takes the wrong one of two terms; or a
    target of values moves with them.

    What it catches
        `loss = policy_loss + 0.5 * value_loss + 0.01 * entropy`, where the entropy is to be subtracted;
        `-(log_prob * (returns - values)).mean()` without `detach`; `-torch.max(ratio * advantage, clipped)` for min;
        `mse_loss(q(s), r + 0.99 * q(s_next).max(1)[0] * (1 - done))`, where the target is to be a number.
    Why it matters
        Descent on an entropy makes the policy sure of what it does by chance. An advantage that hangs on the graph
        moves the values so that likely actions look good, against the loss that fits them to the returns. The larger of
        the two terms of PPO is bounded by nothing where an update goes too far. A target with a graph lets the values
        of next states be pulled to those of the states before them, not the other way round.
    How it decides
        By the graph of the loss, in inspected steps. An entropy of torch.distributions raises the loss while the
        log-probabilities of actions, times something, lower it. Or a log-probability is multiplied with a difference of
        two tensors that hangs on the graph, and that reaches parameters which the log-probability does not reach and
        another term of the same loss trains. Or of a ratio times something and the same ratio, clamped around 1, times
        the same, the loss takes the lower one. Or what a network says, of one action or times a mask of rows, times a
        number, plus numbers without a graph, is compared with what the same trained weights say, and hangs on a graph.
    What to do
        `- c * entropy`; `advantage.detach()` in the loss of the policy; `-torch.min(...)`; the target under
        `torch.no_grad()`.
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
            said, remedies = SAID[fact.term](fact)
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


def surrogate(fact: PolicyTerm) -> tuple[str, tuple[str, ...]]:
    """Say which of two terms a loss takes, and how to mend it."""
    meant = "torch.min" if fact.taken == "larger" else "torch.max, or a minus,"
    aim = "subtracts" if fact.taken == "larger" else "adds"
    return (
        f"the loss {aim} the {fact.taken} of the clipped and the unclipped term{spot(fact.frame)}: the clip holds "
        f"nothing where the policy goes too far; expected the one that makes the loss larger. Use {meant} there.",
        ("policy_loss = -torch.min(ratio * advantage, ratio.clamp(1 - c, 1 + c) * advantage).mean()",
         "with the sign inside: torch.max(-advantage * ratio, -advantage * ratio.clamp(1 - c, 1 + c)).mean()"),
    )  # fmt: skip


def target(fact: PolicyTerm) -> tuple[str, tuple[str, ...]]:
    """Say what hangs on a target, and how to mend it."""
    return (
        f"the target, rewards plus values of next states{spot(fact.frame)}, hangs on the graph of {fact.parameters} "
        f"tensors of weights that are fitted to it{spot(fact.made)}: each update moves the target as well; expected a "
        "number. Make it under torch.no_grad().",
        ("with torch.no_grad(): around the line of the target, or target.detach() in the loss",
         "better from a copy of the network that follows slowly: target_net(next_states)"),
    )  # fmt: skip


SAID = {"entropy": entropy, "advantage": advantage, "surrogate": surrogate, "target": target}
