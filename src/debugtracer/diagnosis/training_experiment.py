"""Decides about a silent fault by training: some dozen steps again as the program does them, and with the suspected
fault taken away, each several times."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from debugtracer.causes.cause import Cause, causes
from debugtracer.diagnosis.proof.arms import REPEATS, SHARE, Arm, gain, heals, rivals, surely_better
from debugtracer.diagnosis.proof.stopwatch import Stopwatch
from debugtracer.errors import ReplayRefused
from debugtracer.interventions.intervention import Intervention, interventions
from debugtracer.recorder.state.step_history import StepHistory
from debugtracer.replay.replay_context import ReplayContext
from debugtracer.replay.trials.training_trials import TrainingTrials
from debugtracer.trace.calibration import calibrated
from debugtracer.trace.finding import UNTRAINED, Finding
from debugtracer.trace.leading_finding import led, ranked
from debugtracer.trace.verdict import Status, Trial, Verdict

MOST, LEAST = 40, 20  # updates of one training (ours: enough for a loss to fall, few enough for the end of a run)
RIVALS = ("higher-lr", "lower-lr")  # what lets many a loss fall that has another fault (ours)
SUSPECTED = 2  # causes whose changes are tried: the likeliest two (ours)
ARMS = 4  # trainings of a repeat: as it was, the change, two rivals


def suspects(found: Sequence[Finding]) -> list[tuple[Finding, Cause]]:
    """The likeliest causes that a training can decide about, with the finding that names each; none where the leading
    one is an exact invariant or no training can decide about it."""
    leading = ranked(found)
    if not leading or leading[0].exact or leading[0].kind is None:
        return []  # before all causes are imported: most runs end here
    known = {c.kind: c for c in causes().values() if c.proved_by_training}
    if leading[0].kind not in known or UNTRAINED in leading[0].evidence:
        return []
    first = {f.kind: f for f in reversed(leading) if f.kind in known and UNTRAINED not in f.evidence}
    kinds = dict.fromkeys(f.kind for f in leading if f.kind in first)
    return [(first[kind], known[kind]) for kind in kinds if kind is not None][:SUSPECTED]


class TrainingExperiment:
    """One experiment about the leading finding of a run."""

    def __init__(self, found: Sequence[Finding], seconds: float) -> None:
        self.suspects = suspects(found)
        self.seconds = seconds
        """That it may take."""
        self.watch = Stopwatch()
        self.plain = Arm("unchanged")

    def steps(self, step_s: float) -> int:
        """The updates of one training that the time allows. Raises ReplayRefused where those are too few."""
        needed = len(self.suspects) + ARMS - 1
        affordable = int(self.seconds / max(step_s, 1e-6) / (needed * REPEATS))
        if affordable < LEAST:
            raise ReplayRefused(
                f"{LEAST} steps of {step_s:.2g} s trained {needed * REPEATS} times take longer than trials_s "
                f"({self.seconds:g})"
            )
        return min(MOST, affordable)

    def decide(self, past: StepHistory, context: ReplayContext, step_s: float) -> Verdict:
        """The verdict of the leading finding with what the trainings have shown. The world is as before when it
        returns."""
        steps = self.steps(step_s)
        with TrainingTrials(past, context, steps) as trials:
            self.suspects = [pair for pair in self.suspects if self.may_try(trials, pair[1])]
            trials.check()
            self.train(trials, self.plain, interventions()["unchanged"])
            if self.plain.refused:
                raise ReplayRefused(self.plain.refused)
            self.plain.note = f"trained on for {steps} steps, {REPEATS} times in other orders"
            proofs = {cause.slug: self.tried(trials, cause) for _, cause in self.suspects}
            good = [cause for _, cause in self.suspects if heals(self.plain, proofs[cause.slug])]
            used = {arm.name.partition("=")[0] for arm in proofs.values()}
            others = [self.arm(trials, interventions()[r]) for r in RIVALS if r not in used] if good else []
        return self.verdict(proofs, good, others, steps)

    def may_try(self, trials: TrainingTrials, cause: Cause) -> bool:
        """Return whether a change of the cause can be made; raises ReplayRefused where the leading one has none."""
        why = [interventions()[slug].refuses(trials.rerun()) for slug in cause.proved_by_training]
        if all(why) and cause is self.suspects[0][1]:
            raise ReplayRefused(why[0])
        return not all(why)

    def tried(self, trials: TrainingTrials, cause: Cause) -> Arm:
        """The first change of a cause that heals, else the last that ran."""
        arm = Arm("")
        for slug in cause.proved_by_training:
            arm = self.arm(trials, interventions()[slug])
            if heals(self.plain, arm):
                break
        return arm

    def arm(self, trials: TrainingTrials, change: Intervention) -> Arm:
        """Return what training with one change gives."""
        arm = Arm(change.name)
        self.train(trials, arm, change)
        return arm

    def train(self, trials: TrainingTrials, arm: Arm, change: Intervention) -> None:
        """Run one training for each order of the batches."""
        for repeat in range(REPEATS):
            trials.take_order(repeat)
            if self.watch.spent_s > self.seconds:
                arm.refused = f"trials_s ({self.seconds:g}) were over"
                return
            score = trials.run(change)
            arm.seconds += score.seconds
            if score.refused or score.loss is None:
                arm.refused = score.refused or "it gave no loss"
                return
            arm.note = score.change
            arm.losses.append(score.loss)

    def verdict(self, proofs: dict[str, Arm], good: list[Cause], others: list[Arm], steps: int) -> Verdict:
        """The word for what was seen: confirmed where one change heals and neither a rival nor the second cause's does
        as much."""
        finding, first = self.suspects[0]
        leader = good[0] if good else first
        proof = proofs[leader.slug]
        beside = [arm for slug, arm in proofs.items() if slug != leader.slug]
        as_good = rivals(self.plain, proof, [*others, *beside]) if good else []
        proved = bool(good) and not as_good
        named = next(f for f, cause in self.suspects if cause is leader) if proved else finding
        plain = led(named, [f for f, _ in self.suspects if f is not named])
        status: Status = "confirmed" if proved else plain.status
        return msgspec.structs.replace(
            plain,
            # a reader finds it by the finding that leads the report
            step=finding.step,
            iteration=finding.iteration,
            symptom=finding.symptom,
            status=status,
            confidence=calibrated(status, proved, plain.confidence, plain.kind),
            trials=self.rows(proofs, good, others),
            evidence=(said(self.plain, proof, steps),) if proved else (),
            against=against(self.plain, proofs, good, as_good, steps),
            tested=said(self.plain, proof, steps) if proved else "",
        )

    def rows(self, proofs: dict[str, Arm], good: list[Cause], others: list[Arm]) -> tuple[Trial, ...]:
        """Every arm as a trial."""
        slugs = {cause.slug for cause in good}
        for arm in (*proofs.values(), *others):
            if surely_better(self.plain, arm) and not heals(self.plain, arm):
                share = gain(self.plain, arm) / abs(self.plain.mean)
                arm.note += f" (better by {share:.2g} of the loss, expected {SHARE:g} at least)"
        own = [arm.trial("healed" if slug in slugs else "not healed") for slug, arm in proofs.items()]
        rest = [arm.trial("healed" if heals(self.plain, arm) else "not healed") for arm in others]
        return (self.plain.trial("reproduced"), *own, *rest)


def losses(arm: Arm) -> str:
    """Format the mean and the spread: `0.91 +- 0.02`."""
    return f"{arm.mean:.4g} \u00b1 {arm.spread:.2g}"


def said(plain: Arm, proof: Arm, steps: int) -> str:
    """Format a training that heals."""
    return (
        f"with {proof.note} for {steps} steps, {REPEATS} times: mean loss of batches held back {losses(proof)}, as it "
        f"was {losses(plain)}"
    )


def against(plain: Arm, proofs: dict[str, Arm], good: list[Cause], as_good: list[Arm], steps: int) -> tuple[str, ...]:
    """What the trainings say against the causes that were tried."""
    healed = {cause.slug for cause in good}
    vain = [
        f"it persists with {arm.note}: {steps} steps of training end at loss {losses(arm)}, as it was {losses(plain)}"
        for slug, arm in proofs.items()
        if slug not in healed and not arm.refused and not surely_better(plain, arm)
    ]
    equal = [f"{arm.note} lets the loss fall as well: {losses(arm)} after {steps} steps" for arm in as_good]
    return (*vain, *equal)
