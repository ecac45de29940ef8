"""Which trial is run next, and for how long: the one that takes the most doubt away per second, until nothing more is
to be learnt or the budget is spent."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from debugtracer.causes.cause import causes
from debugtracer.diagnosis.proof.attribution import BATCH, STATE
from debugtracer.diagnosis.proof.belief import Belief
from debugtracer.diagnosis.proof.likelihood import UNKNOWN
from debugtracer.diagnosis.proof.stopwatch import Stopwatch
from debugtracer.diagnosis.proof.trial_budget import TrialBudget
from debugtracer.interventions.intervention import Intervention, Scope, interventions
from debugtracer.replay.trials.score import Score
from debugtracer.trace.number import number
from debugtracer.trace.verdict import Outcome, Trial

LEAST_GAIN = 0.01  # bits; below it a trial is not worth its time (ours)
PROOF_GAIN = 1.0  # bits that proving the leader is worth beside what it decides: the fix is to be seen to work (ours)
ATTRIBUTION = 0.02  # bits that knowing whether batch or state is to blame is worth beside the cause (ours)
PROVES = 0.9  # likelihood from which on an intervention proves a cause that names none (ours)
# a trial that the leader expects to fail at least this surely refutes an alternative when it does fail (ours)
REFUTING = 0.25


@dataclass
class TrialSeries:
    """The trials of one incident."""

    belief: Belief
    run: Callable[[Intervention], Score]
    heals: Callable[[Score], bool]
    budget: TrialBudget
    named: frozenset[str] | None = None
    """Interventions to choose from; None: all."""
    too_late: frozenset[Scope] = frozenset()
    """Scopes that act after the fault and can neither heal nor refute anything."""
    step_s: float = 0.0
    """Seconds of one unchanged replay, for the cost of the next."""
    trials: list[Trial] = field(default_factory=list)
    done: dict[str, bool] = field(default_factory=dict)
    """Slug -> whether any of its values healed; trials that could not run are not here."""
    tried: set[str] = field(default_factory=set)
    watch: Stopwatch | None = None
    """Started when the first was chosen; None before."""
    scores: dict[str, Score] = field(default_factory=dict)
    """Name of a trial -> its score."""

    def go(self) -> None:
        """Run until nothing is left to learn, or the budget is spent."""
        self.watch = Stopwatch()
        while not self.spent:
            chosen = self.next()
            if chosen is None:
                return
            self.attempt(chosen)

    @property
    def spent(self) -> bool:
        """Whether the budget is used up; what could not run costs nothing."""
        ran = len([t for t in self.trials if t.outcome != "could not run"])
        return ran >= self.budget.trials or (self.watch is not None and self.watch.spent_s >= self.budget.seconds)

    def next(self) -> Intervention | None:
        """The best trial not yet run; None when none is worth it."""
        left = [i for slug, i in interventions().items() if slug not in self.tried and self.may(slug, i)]
        if self.budget.order == "random":
            # its own generator: the user's is not touched
            return random.Random(len(self.tried)).choice(left) if left else None
        worth = [(self.worth(i), i) for i in left]
        best, chosen = max(worth, key=lambda pair: pair[0], default=(0.0, None))
        return chosen if best >= LEAST_GAIN else None

    def may(self, slug: str, intervention: Intervention) -> bool:
        """True if the trial can decide something about this fault."""
        return (
            slug != "unchanged"
            and not intervention.by_training
            and intervention.scope not in self.too_late
            and (self.named is None or slug in self.named)
        )

    def worth(self, intervention: Intervention) -> float:
        """The bits per step's worth of time; proving the leader, then refuting an alternative to it, come on top."""
        slug = intervention.slug
        gain = self.belief.gain(slug)
        leader = self.leader
        if leader is not None:
            proofs = self.proofs(leader)
            if slug in proofs and not any(self.done.get(p) for p in proofs):
                gain += PROOF_GAIN / (1 + proofs.index(slug))
            elif (
                not self.refuted
                and self.belief.likelihood(leader, slug) <= REFUTING
                and any(self.done.get(p) for p in proofs)
            ):
                gain += LEAST_GAIN
        if slug in (BATCH, STATE) and not {BATCH, STATE} <= self.done.keys():
            gain += ATTRIBUTION
        return gain / max(intervention.cost, 0.1)

    def proofs(self, slug: str) -> list[str]:
        """The interventions that prove a cause, narrowest first: those it names, else those that it is all but sure
        of."""
        cause = causes().get(slug)
        named = [p for p in cause.proved_by if p in interventions()] if cause is not None else []
        return named or [i for i in interventions() if self.belief.likelihood(slug, i) >= PROVES]

    @property
    def leader(self) -> str | None:
        """The likeliest cause; None when that is unknown."""
        first = next(iter(self.belief.shares()))
        return None if first == UNKNOWN else first

    @property
    def refuted(self) -> bool:
        """Whether a trial that would not heal the leader was run in vain; a failed proof of its own is no
        alternative."""
        own = self.proofs(self.leader) if self.leader is not None else []
        return any(not healed for slug, healed in self.done.items() if slug not in own)

    def attempt(self, intervention: Intervention) -> None:
        """Try one intervention, up its ladder while it does not heal and the budget lasts."""
        self.tried.add(intervention.slug)
        ran = healed = finite = False
        ladder = (
            intervention.ladder if self.leader is not None and intervention.slug in self.proofs(self.leader) else ()
        )
        for value in (None, *ladder):
            if ran and self.spent:
                break
            one = type(intervention)(value)
            score = self.run(one)
            healed = not score.refused and self.heals(score)
            score = score.weighed(healed)
            ran, finite = ran or not score.refused, not score.refused and score.finite
            self.note(one, score, "could not run" if score.refused else "healed" if healed else "not healed")
            if healed or score.refused:
                break
        if ran:
            # what the range made is gone, healthy or not
            gone = healed or (intervention.scope == "precision" and finite)
            self.done[intervention.slug] = gone
            self.belief.observe(intervention.slug, gone)

    def note(self, intervention: Intervention, score: Score, outcome: Outcome, repeats: int = 1) -> None:
        """Write a trial down."""
        self.scores[intervention.name] = score
        self.trials.append(
            Trial(
                intervention=intervention.name,
                outcome=outcome,
                repeats=repeats,
                loss=None if score.loss is None else number(score.loss),
                grad_l2=None if score.grad_l2 is None else number(score.grad_l2),
                probe_loss=None if score.probe_loss is None else number(score.probe_loss),
                bad_op=score.bad_op if outcome != "healed" else None,
                seconds=round(score.seconds, 6),
                note=score.refused or score.change,
            )
        )


def narrowest(healed: Mapping[str, bool], order: Sequence[str]) -> str | None:
    """Return the intervention of narrowest scope among those that healed."""
    known = interventions()
    good = [slug for slug, so in healed.items() if so]
    return min(good, key=lambda slug: order.index(known[slug].scope), default=None)
