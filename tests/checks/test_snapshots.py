"""How checks read the health snapshots, and builders of them for the tests of those checks."""

from __future__ import annotations

from typing import Any

import pytest

from debugtracer.checks.snapshots import always, is_matrix, pull, ratio, rms, still_learning, taken
from debugtracer.trace.facts.health import Health, ParamDynamics, TensorHealth
from debugtracer.trace.finding import Finding
from debugtracer.trace.step import StepRef
from debugtracer.trace.window import Window
from tests.trace.facts.test_health import a_row


def an_update(name: str, **more: Any) -> ParamDynamics:
    known = {
        "numel": 4096,
        "dtype": "float32",
        "optimizer": "Adam",
        "lr": 1e-3,
        "weight_l2": 10.0,
        "grad_l2": 0.1,
        "update_l2": 0.01,
    }
    return ParamDynamics(name=name, **{**known, **more})


def an_activation(name: str, function: str, **more: Any) -> TensorHealth:
    return a_row(name, role="activation", function=function, **{"shape": (64, 32), "sampled": 2048, **more})


def a_snapshot(step: int, *tensors: TensorHealth, params: tuple[ParamDynamics, ...] = ()) -> Health:
    weights = tuple(a_row(p.name, shape=(64, 64)) for p in params)
    return Health(
        ref=StepRef(iteration=step, step=step), tensors=(*weights, *tensors), params=params or (an_update("w"),)
    )


def judged(check: Any, *snapshots: Health, **series: tuple[float, ...]) -> list[Finding]:
    """What a check says as the snapshots come one by one."""
    found: list[Finding] = []
    memories: dict[str, dict[Any, Any]] = {}
    for count in range(1, len(snapshots) + 1):
        seen = snapshots[:count]
        window = Window(ref=seen[-1].ref, series=series, facts={Health: seen}, came={Health: 1}, memories=memories)
        found += check.judge(window)
    return found


def test_ratios_of_one_parameter():
    assert (ratio(an_update("w")), pull(an_update("w"))) == (0.001, 0.01)
    assert ratio(an_update("w", update_l2=None)) is None
    assert pull(an_update("w", weight_l2=0.0)) is None


def test_a_statement_must_hold_in_every_snapshot():
    facts = [a_snapshot(step, params=(an_update("w", lr=lr),)) for step, lr in ((0, 1.0), (1, 2.0))]
    assert always(facts, "w", lambda p: p.lr >= 1.0)
    assert not always(facts, "w", lambda p: p.lr > 1.0)
    assert not always(facts, "other", lambda p: True)


def test_snapshots_of_finished_steps_only():
    unfinished = Health(ref=StepRef(iteration=5, step=5), tensors=())
    window = Window(ref=unfinished.ref, facts={Health: [a_snapshot(0), a_snapshot(3), unfinished]})
    assert [f.ref.step for f in taken(window)] == [0, 3]
    assert [f.ref.step for f in taken(window, after=1)] == [3]


def test_small_readings():
    assert rms(a_row("x", shape=(4, 4), l2=8.0)) == pytest.approx(2.0)
    assert is_matrix(a_row("x", shape=(4, 4)))
    assert not is_matrix(a_row("x", shape=(64,)))
    ref = StepRef(iteration=0, step=0)
    assert still_learning(Window(ref=ref, series={"loss": (2.0, 1.0)}))
    assert not still_learning(Window(ref=ref, series={"loss": (2.0, 0.1)}))
