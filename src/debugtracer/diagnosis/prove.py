"""An incident proved: the causes that its facts speak for, put to trials on the failing step, until one is healed by what only it predicts."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator, Mapping, Sequence

import msgspec
import torch
from torch.optim import Optimizer

from debugtracer.diagnosis.belief import Belief
from debugtracer.diagnosis.conclusion import concluded
from debugtracer.diagnosis.healing import is_healed
from debugtracer.diagnosis.likelihood import family, named
from debugtracer.diagnosis.rank import Ranked, rank, suspects
from debugtracer.diagnosis.trials import Budget, Series
from debugtracer.errors import ReplayRefused, swallow
from debugtracer.interventions.intervention import Scope, interventions
from debugtracer.recorder.alarm import Alarm
from debugtracer.replay.bench import Bench
from debugtracer.replay.investigate import Result
from debugtracer.replay.scene import Scene
from debugtracer.replay.score import Score
from debugtracer.trace.incident import IncidentFacts
from debugtracer.trace.number import as_float
from debugtracer.trace.verdict import Verdict
from debugtracer.trace.window import GRAD_L2

ALWAYS = frozenset({"full-precision", "without-sample", "other-batch", "older-weights", "reference-device"})
"""Precision, sample, batch, state: what a fault without a known cause is asked."""
REPEATS = 3  # unchanged runs of a step that did not show its fault again (CHECKS 5.3: the jitter band)


def prove(facts: IncidentFacts, alarm: Alarm, scene: Scene, result: Result, built: Sequence[Optimizer], state_bytes: int, budget: Budget) -> Verdict:
    """The verdict after trials; without any where the step cannot be executed again. The world is as before when it returns."""
    ranked = suspects(facts)
    series = started(facts, ranked, budget)
    if result.replay.mechanism == "tape" and budget.trials > 0:
        with contextlib.suppress(ReplayRefused):
            try:
                with Bench(alarm, scene, result.guilty, facts.birth, state_bytes, list(built), result.replay.compiled_only) as bench:
                    bench.grad_l2_usual = usual(facts)
                    perform(series, bench, result.replay.reproduced)
            except ReplayRefused:
                raise
            except Exception as error:
                swallow("diagnosis.prove", error)
    return concluded(facts, ranked, series) if series.trials else rank(facts)


def started(facts: IncidentFacts, ranked: Sequence[Ranked], budget: Budget) -> Series:
    """Belief from the signs alone."""
    recent: Mapping[str, list[float]] = {name: [as_float(v) for v in values] for name, values in facts.recent.items()}
    belief = Belief.of({r.cause.slug: r.signs.confidence for r in ranked})
    late: frozenset[Scope] = frozenset() if facts.symptom == "bad_update" else frozenset({"update"})
    return Series(belief, lambda _: Score(refused="not yet"), lambda score: is_healed(score, recent), budget, named=telling(ranked), too_late=late)


def telling(ranked: Sequence[Ranked]) -> frozenset[str]:
    """Interventions that the rows of these causes name, what proves them, and a few that separate batch, state and precision whatever the cause."""
    families = frozenset(family(r.cause.slug) for r in ranked)
    return named("families", families) | {slug for r in ranked for slug in r.cause.proved_by} | ALWAYS


def perform(series: Series, bench: Bench, reproduced: bool) -> None:
    """Unchanged first; then what tells most."""
    series.run = bench.run
    unchanged = interventions()["unchanged"]
    runs = [bench.run(unchanged) for _ in range(1 if reproduced else REPEATS)]
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
        unsteady(series, bench, runs)


def unsteady(series: Series, bench: Bench, runs: list[Score]) -> None:
    """The fault did not come again: how far do the repeats differ from each other, and with deterministic algorithms?"""
    losses = [r.loss for r in runs if r.loss is not None]
    with deterministic():
        fixed = bench.run(interventions()["unchanged"])
    band = f"{len(runs)} repeats gave a loss of {min(losses):.6g} to {max(losses):.6g}" if losses else f"{len(runs)} repeats were finite"
    more = "" if fixed.refused else f"; with deterministic algorithms {fixed.loss:.6g}" if fixed.loss is not None else ""
    series.trials[-1] = msgspec.structs.replace(series.trials[-1], note=band + more)


@contextlib.contextmanager
def deterministic() -> Iterator[None]:
    """torch's deterministic algorithms for a while; operators without one run as they are."""
    was, warns = torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()
    torch.use_deterministic_algorithms(True, warn_only=True)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        torch.use_deterministic_algorithms(was, warn_only=warns)


def usual(facts: IncidentFacts) -> float | None:
    """Median gradient norm of the last steps."""
    norms = sorted(v for v in map(as_float, facts.recent.get(GRAD_L2, [])) if v == v and v != float("inf"))
    return norms[len(norms) // 2] if norms else None
