"""Is the ratio of new to old probabilities 1 while the policy has not changed?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.policy_ratio import PolicyRatio as Ratio
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.number import as_float
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class PolicyRatio(Check, frozen=True):
    """New and old log-probabilities of a policy differ before any update.

    What it catches
        Actions drawn anew where the stored ones were to be judged; observations overwritten or put in another order
        than the log-probabilities (time and environment exchanged); dropout in a policy.
    Why it matters
        The ratio of a clipped policy gradient then says nothing of the policy: advantages go to actions that were not
        taken, and clipping cuts at random.
    How it decides
        In an inspected step the difference of two log-probabilities goes into `exp`: the new ones need gradients, the
        old ones come from an earlier call of the same model, or of a copy of it, both were computed by the same
        functions, and no weight was written in between. Then the ratio is 1; `share` of them are not. Old ones of other
        weights, other functions (a mixed policy, another temperature) or stored data are left alone.
    What to do
        Give the update exactly what was acted on: `policy.log_prob(observations, actions)` of one order, without noise
        of its own.
    Example
        step 0, rank 0: 70 of 96 ratios of new to old probabilities (train.py:53) are not 1 (0.83 to 1.24), though no
        weight has changed since the old ones were computed (train.py:37); expected 1. The actions were drawn anew: give
        the stored ones to the policy (train.py:52).
    """

    needs: ClassVar[tuple[type[Ratio]]] = (Ratio,)
    kind: ClassVar[str] = "rollout_mismatch"
    symptom: ClassVar[str] = "no_learning"
    confidence: ClassVar[float] = 0.9
    remedies: ClassVar[tuple[str, ...]] = (
        "give the stored actions to the policy in the update: log_prob(observations, actions)",
        "store observations, actions and log-probabilities in one order, each as a copy",
        "no dropout in the policy, or policy.eval() for both",
    )
    proved_by: ClassVar[str] = "model/mooring_pilots"

    share: float = 0.1  # of the ratios (ours: of actions drawn anew many are the same)
    fewest: int = 4  # ratios (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Judge each line once."""
        for fact in window.new(Ratio):
            self.measured(window, "share of ratios that are not 1", fact.off / max(fact.compared, 1), self.share)
            if fact.off < max(self.fewest, self.share * fact.compared):
                continue
            yield self.finding(
                window,
                "warning",
                f"{fact.off} of {fact.compared} ratios of new to old probabilities{spot(fact.frame)} are not 1 "
                f"({as_float(fact.low):.4g} to {as_float(fact.high):.4g}), though no weight has changed since the old "
                f"ones were computed{spot(fact.old_frame)}; expected 1. {advice(fact)}",
                ref=fact.ref,
                place=Place(frame=fact.call_frame, symptom_frame=fact.frame),
                confidence=0.6 if fact.noise else None,
                off=fact.off,
                compared=fact.compared,
            )


def advice(fact: Ratio) -> str:
    """What differs, as far as it was seen, and what to do."""
    line = spot(fact.call_frame)
    if fact.noise:
        return f"{fact.noise} changes what the policy says from call to call{line}: switch it off in the policy."
    if fact.drawn:
        return f"The actions were drawn anew: give the stored ones to the policy{line}."
    if fact.rows and fact.same < fact.rows and fact.shown:
        return (
            f"The policy is given observations that it was given before, {fact.same} of {fact.rows} looked up with "
            f"their own log-probability: keep a copy of each, and one order for all that is stored{line}."
        )
    if fact.rows and not fact.same:
        return f"None of the observations given now is one of those acted on: store a copy of each{line}."
    if fact.rows and fact.same == fact.rows:
        return f"The observations are the same, the actions are not those taken: store and give these{line}."
    return f"Give the policy the observations and actions that the old ones were computed from{line}."
