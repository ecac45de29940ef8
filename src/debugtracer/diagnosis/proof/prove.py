"""Proves an incident: trials of the suspected causes on the failing step, until one is healed by what only it
predicts."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator, Mapping, Sequence

import msgspec
import torch
from torch.optim import Optimizer

from debugtracer.causes.cause import causes
from debugtracer.diagnosis.proof.belief import Belief
from debugtracer.diagnosis.proof.conclusion import concluded
from debugtracer.diagnosis.proof.healing import is_healed
from debugtracer.diagnosis.proof.likelihood import family, named
from debugtracer.diagnosis.proof.rank import Ranked, rank, suspects
from debugtracer.diagnosis.proof.trial_budget import TrialBudget
from debugtracer.diagnosis.proof.trials import TrialSeries
from debugtracer.errors import ReplayRefused, swallow
from debugtracer.interventions.intervention import Scope, interventions
from debugtracer.recorder.alarm import Alarm
from debugtracer.replay.investigation import Investigation
from debugtracer.replay.replay_context import ReplayContext
from debugtracer.replay.trials.score import Score
from debugtracer.replay.trials.step_trials import StepTrials
from debugtracer.trace.incident import IncidentFacts
from debugtracer.trace.number import as_float
from debugtracer.trace.verdict import Verdict
from debugtracer.trace.window import GRAD_L2

ALWAYS = frozenset({"full-precision", "without-sample", "other-batch", "older-weights", "reference-device"})
"""Precision, sample, batch, state: what a fault without a known cause is asked."""
BATCH = "data-nonfinite"
"""The cause whose trials ask of a bad batch, whatever made it bad."""
REPEATS = 3  # unchanged runs of a step that did not show its fault again (docs/rationale/inference.md#jitter)


def prove(
    facts: IncidentFacts,
    alarm: Alarm,
    context: ReplayContext,
    result: Investigation,
    built: Sequence[Optimizer],
    state_bytes: int,
    budget: TrialBudget,
) -> Verdict:
    """The verdict after trials; without any where the step cannot be executed again. The world is as before when it
    returns."""
    ranked = suspects(facts)
    series = started(facts, ranked, budget)
    if result.replay.mechanism == "tape" and budget.trials > 0:
        with contextlib.suppress(ReplayRefused):
            try:
                compiled, norm = result.replay.compiled_only, usual(facts)
                with StepTrials(
                    alarm, context, result.guilty, facts.birth, state_bytes, built, compiled, norm
                ) as trials:
                    perform(series, trials, result.replay.reproduced)
            except ReplayRefused:
                raise
            except Exception as error:
                swallow("diagnosis.proof.prove", error)
    return concluded(facts, ranked, series) if series.trials else rank(facts)


def started(facts: IncidentFacts, ranked: Sequence[Ranked], budget: TrialBudget) -> TrialSeries:
    """Start a series of trials with the belief from the signs alone."""
    recent: Mapping[str, list[float]] = {name: [as_float(v) for v in values] for name, values in facts.recent.items()}
    belief = Belief.of({r.cause.slug: r.evidence.confidence for r in ranked})
    late: frozenset[Scope] = frozenset() if facts.symptom == "bad_update" else frozenset({"update"})
    return TrialSeries(
        belief,
        lambda _: Score(refused="not yet"),
        lambda score: is_healed(score, recent),
        budget,
        named=worth_trying(ranked, of_batch=facts.pipeline is not None and not facts.pipeline.refused),
        too_late=late,
    )


def worth_trying(ranked: Sequence[Ranked], of_batch: bool = False) -> frozenset[str]:
    """The interventions that these causes' rows name or are proved by, and a few that separate batch, state and
    precision. `of_batch`: the value was born before the step, where no trial of an operator reaches."""
    if of_batch:
        return named("families", frozenset({family(BATCH)})) | frozenset(causes()[BATCH].proved_by) | ALWAYS
    families = frozenset(family(r.cause.slug) for r in ranked)
    return named("families", families) | {slug for r in ranked for slug in r.cause.proved_by} | ALWAYS


def perform(series: TrialSeries, trials: StepTrials, reproduced: bool) -> None:
    """Run unchanged first; then the trials that decide most."""
    series.run = trials.run
    unchanged = interventions()["unchanged"]
    runs = [trials.run(unchanged) for _ in range(1 if reproduced else REPEATS)]
    if runs[0].refused:
        raise ReplayRefused(runs[0].refused)
    again = any(not run.finite for run in runs)
    series.step_s = runs[0].seconds
    series.tried.add("unchanged")
    series.note(unchanged, runs[0], "reproduced" if again else "not reproduced", repeats=len(runs))
    series.belief.observe("unchanged", not again)
    if again:
        series.go()
    else:
        unsteady(series, trials, runs)


def unsteady(series: TrialSeries, trials: StepTrials, runs: list[Score]) -> None:
    """Note how far the repeats differ when the fault did not come again, also with deterministic algorithms."""
    losses = [r.loss for r in runs if r.loss is not None]
    with deterministic():
        fixed = trials.run(interventions()["unchanged"])
    band = (
        f"{len(runs)} repeats gave a loss of {min(losses):.6g} to {max(losses):.6g}"
        if losses
        else f"{len(runs)} repeats were finite"
    )
    more = (
        "" if fixed.refused else f"; with deterministic algorithms {fixed.loss:.6g}" if fixed.loss is not None else ""
    )
    series.trials[-1] = msgspec.structs.replace(series.trials[-1], note=band + more)


@contextlib.contextmanager
def deterministic() -> Iterator[None]:
    """Enable torch's deterministic algorithms inside the context; operators without one run as they are."""
    was, warns = torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()
    torch.use_deterministic_algorithms(True, warn_only=True)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        torch.use_deterministic_algorithms(was, warn_only=warns)


def usual(facts: IncidentFacts) -> float | None:
    """The median gradient norm of the last steps, None without any."""
    norms = sorted(v for v in map(as_float, facts.recent.get(GRAD_L2, [])) if v == v and v != float("inf"))
    return norms[len(norms) // 2] if norms else None
