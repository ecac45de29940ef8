"""Proves a loss jump of finite numbers: replays the steps from a snapshot with one thing changed at a time."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from torch.optim import Optimizer

from debugtracer.causes.cause import Cause, causes
from debugtracer.diagnosis.jump_rows import batch_of, line_of_rows
from debugtracer.diagnosis.proof.attribution import attributed
from debugtracer.diagnosis.proof.belief import Belief
from debugtracer.diagnosis.proof.conclusion import RIVAL, narrowness, proof
from debugtracer.diagnosis.proof.likelihood import UNKNOWN, named, settles
from debugtracer.diagnosis.proof.score_text import outcome
from debugtracer.diagnosis.proof.settings_delta import SettingDelta, deltas
from debugtracer.diagnosis.proof.trial_budget import TrialBudget
from debugtracer.diagnosis.proof.trials import TrialSeries
from debugtracer.errors import ReplayRefused
from debugtracer.interventions.intervention import interventions
from debugtracer.recorder.state.step_history import StepHistory
from debugtracer.replay.fetch.sample import Pipeline
from debugtracer.replay.replay_context import ReplayContext
from debugtracer.replay.trials.critical_lr import CriticalLr, critical_lr
from debugtracer.replay.trials.history_trials import HistoryTrials
from debugtracer.replay.trials.score import Score
from debugtracer.trace.birth import Frame
from debugtracer.trace.calibration import calibrated
from debugtracer.trace.finding import Finding
from debugtracer.trace.leading_finding import lead, led
from debugtracer.trace.verdict import Status, Suspect, Verdict, word

SETTLED = 0.3  # share of the jump that may be left in a healed step (ours)
HYPOTHESES = (
    "data-hard-samples",
    "data-label-noise",
    "lr-too-high",
    "adam-instability",
    "exploding-gradients",
    "fp16-overflow",
)
RAISED = 3.0  # times the learning rate of the snapshot: evidence for it (as optimizer/lr-jump)
MOST_BITS = 3.0  # that a raised learning rate is worth before any trial: twice its doublings (ours)
TOLD = 2.0  # bits that the class of the finding is worth before any trial (ours)


@dataclass
class LossJump:
    """The step, what was expected of it and what came."""

    finding: Finding
    past: StepHistory
    expected: float
    value: float
    recent: Sequence[float]
    pipeline: Pipeline | None = None
    """What made its batch, as it was then."""

    def heals(self, score: Score) -> bool:
        """True if the loss of the step is back where expected, and a healthy batch did not suffer by the update."""
        if not score.finite or score.loss is None:
            return False
        top = self.expected + SETTLED * (self.value - self.expected)
        return score.loss <= top and (
            score.probe_loss is None or score.probe_loss <= max(top, max(self.recent, default=top))
        )


def diagnose(
    jump: LossJump, context: ReplayContext, budget: TrialBudget, grad_l2_usual: float | None, built: Mapping[Any, Any]
) -> Verdict | None:
    """The verdict on the finding after trials; None where the steps cannot be executed again. The world is as before
    when it returns."""
    changed = deltas(jump.past)
    with HistoryTrials(jump.past, context, grad_l2_usual) as trials:
        series = TrialSeries(Belief({UNKNOWN: 0.0}, settles), trials.run, jump.heals, budget, named=named("finite"))
        again = repeat(series, trials, jump)
        if not again:
            return machine(jump, series, trials)
        believe(series, trials, changed, jump.finding.kind)
        series.go()
        verdict = verdict_of(jump, series, trials, changed, context, built, search(trials, series))
        return line_of_rows(verdict, batch_of(trials, context), context.batches, jump.pipeline)


def search(trials: HistoryTrials, series: TrialSeries) -> CriticalLr | None:
    """The line search, where the size of the update may be to blame."""
    if series.belief.shares().get("lr-too-high", 0.0) < RIVAL:
        return None
    trials.following = True
    try:
        return critical_lr(trials)
    finally:
        trials.following = False


def repeat(series: TrialSeries, trials: HistoryTrials, jump: LossJump) -> bool:
    """Run the steps unchanged; True if the jump comes again."""
    trials.following = True
    unchanged = interventions()["unchanged"]
    score = trials.run(unchanged)
    trials.following = False
    if score.refused:
        raise ReplayRefused(score.refused)
    series.tried.add("unchanged")
    if trials.departs not in (None, trials.last.first_step):
        raise ReplayRefused(
            f"they lead away from the recorded losses at step {trials.departs}: something outside the recorded calls "
            "changes the state"
        )
    again = trials.reproduced_bits or not jump.heals(score)
    if again and jump.heals(score):
        raise ReplayRefused("the last step that is kept is healthy by itself")
    series.note(unchanged, score, "reproduced" if again else "not reproduced")
    return again


def believe(series: TrialSeries, trials: HistoryTrials, changed: list[SettingDelta], kind_of_check: str | None) -> None:
    """Set the belief before a trial, in bits: rows that stand out, a setting that changed, what the check has said."""
    bits = dict.fromkeys(HYPOTHESES, 0.0)
    half = trials.uses_half()
    if not half:
        del bits["fp16-overflow"]
    if trials.guilty_rows:
        bits["data-hard-samples"] += 2.0
    elif trials.row_losses is not None and not trials.whole_batch:
        bits["data-hard-samples"] -= 1.0
    bits |= {slug: bits[slug] + TOLD for slug in bits if slug.replace("-", "_") == kind_of_check}
    bits["lr-too-high"] += max(
        (min(MOST_BITS, 2 * math.log2(d.times)) for d in changed if d.name == "lr" and d.times > 1), default=0.0
    )
    if not any("exp_avg_sq" in state for o in trials.optimizers for state in o.state.values()):
        bits["adam-instability"] -= 4.0
    series.belief.bits |= bits


def machine(jump: LossJump, series: TrialSeries, trials: HistoryTrials) -> Verdict | None:
    """The recorded steps do not lead to this loss: something else has changed the state, or the machine computes
    differently each time."""
    unchanged = interventions()["unchanged"]
    scores = [trials.run(unchanged) for _ in range(2)]
    losses = [s.loss for s in scores if s.loss is not None]
    if len(losses) < 2 or any(jump.heals(s) is False for s in scores):
        return None
    same = len({*losses, series.scores["unchanged"].loss}) == 1
    series.trials[-1] = msgspec.structs.replace(series.trials[-1], repeats=3)
    first = lead([jump.finding])
    if first is None or not same:
        return None
    evidence = (
        f"the {jump.past.steps + 1} recorded steps lead to a loss of {losses[0]:.4g} three times out of three, not to "
        f"{jump.value:.4g}: "
        "a weight or a moment was changed outside the recorded calls"
    )
    return msgspec.structs.replace(
        first,
        kind="silent_data_corruption",
        cause="silent-data-corruption",
        layer="device",
        status="likely",
        confidence=calibrated("likely", True, 0.85, "silent_data_corruption"),
        trials=tuple(series.trials),
        evidence=(evidence,),
        suspects=(),
    )


def verdict_of(
    jump: LossJump,
    series: TrialSeries,
    trials: HistoryTrials,
    changed: list[SettingDelta],
    context: ReplayContext,
    built: Mapping[Any, Any],
    rate: CriticalLr | None,
) -> Verdict:
    """The cause that the trials leave, with what they have shown."""
    first = led(msgspec.structs.replace(jump.finding, kind=jump.finding.kind or "loss_spike"), [])
    shares = series.belief.shares()
    leader = next(iter(shares))
    evidence = [
        *(d.description for d in changed),
        *moved_most(trials, context),
        *([rate.description] if rate is not None else []),
    ]
    lies = attributed(series.trials, series.done)
    evidence += [lies] if lies else []
    shown = [t for t in series.trials if t.outcome == "healed"]
    best = min(shown, key=narrowness, default=None)
    common: dict[str, Any] = {
        "trials": tuple(series.trials),
        "tested": f"with {best.note}: {outcome(best)}" if best is not None else "",
        "evidence": tuple(evidence),
        "against": tuple(
            f"{t.note}: {outcome(t)}"
            for t in series.trials
            if t.outcome == "not healed" and t.intervention.partition("=")[0] in series.proofs(leader)
        ),
    }
    if leader == UNKNOWN or shares[leader] < 0.6:
        return msgspec.structs.replace(first, **common)
    cause = causes()[leader]
    status = status_of(leader, cause, series, shares)
    rows = trials.guilty_rows if leader == "data-hard-samples" else None
    place = line_of(leader, jump, trials, context, built)
    return msgspec.structs.replace(
        first,
        kind=cause.kind,
        cause=leader,
        layer=cause.layer,
        status=status,
        confidence=calibrated(status, proof(cause, series) is not None, shares[leader], cause.kind),
        batch_rows=rows or (first.batch_rows if leader.startswith("data") else None),
        sample_index=samples(trials, context, rows, leader)
        or (first.sample_index if leader.startswith("data") else None),
        file=place.file if place else first.file,
        line=place.line if place else first.line,
        suspects=suspects_of(shares, leader),
        **common,
    )


def suspects_of(shares: Mapping[str, float], leader: str) -> tuple[Suspect, ...]:
    """The other causes with a share above 0.01."""
    others = {cause: share for cause, share in shares.items() if cause not in (leader, UNKNOWN) and share > 0.01}
    return tuple(
        Suspect(kind=causes()[c].kind, cause=c, confidence=round(share, 3), status=word(share))
        for c, share in others.items()
    )


def status_of(leader: str, cause: Cause, series: TrialSeries, shares: dict[str, float]) -> Status:
    """Return confirmed when the steps repeat exactly, a proof heals, an alternative does not, and no rival is left."""
    proved = proof(cause, series)
    rivals = [s for s, p in shares.items() if s not in (leader, UNKNOWN) and p >= RIVAL]
    if proved and series.refuted and not rivals and shares[leader] >= 0.9:
        return "confirmed"
    return word(shares[leader])


def moved_most(trials: HistoryTrials, context: ReplayContext) -> list[str]:
    """The parameter that moved first and furthest out of its own measure, where it did."""
    if len(trials.moves) < 3:
        return []
    names, worst = context.roots.named_parameters(), (0.0, 0, 0, 0.0, 0.0)
    for at in range(2, len(trials.moves)):
        for key, now in trials.moves[at].items():
            usual = statistics.median(m.get(key, 0.0) for m in trials.moves[:at])
            if usual > 0 and now / usual > worst[0]:
                worst = (now / usual, at, key, now, usual)
    times, at, key, now, usual = worst
    if times < RAISED or not math.isfinite(times):
        return []
    step = (
        trials.history.segments[at + 1].first_step if at + 1 < len(trials.history.segments) else trials.last.first_step
    )
    return [
        (
            f"{names.get(key, 'a parameter')} moved first: {now:.2%} of its norm in the update of step {step}, "
            f"{usual:.2%} in those before"
        )
    ]


def samples(
    trials: HistoryTrials, context: ReplayContext, rows: tuple[int, ...] | None, leader: str
) -> tuple[int, ...] | None:
    """The dataset indices of the guilty rows; of all rows where the batch is guilty."""
    if not leader.startswith("data"):
        return None
    batch = batch_of(trials, context)
    return batch.samples(rows if rows else range(batch.rows or 0)) if batch is not None else None


def line_of(
    leader: str, jump: LossJump, trials: HistoryTrials, context: ReplayContext, built: Mapping[Any, Any]
) -> Frame | None:
    """Where a person edits: the optimizer's constructor, or what the finding says."""
    if leader.startswith("data"):
        return jump.finding.place.frame
    if jump.finding.place.frame is not None:
        return jump.finding.place.frame
    frames: Callable[[Any], tuple[Frame, ...]] = context.frames
    optimizers: list[Optimizer] = trials.optimizers
    found = frames(built.get(optimizers[0])) if optimizers else ()
    return found[0] if found else None
