"""Inputs that run towards an edge."""

from __future__ import annotations

import pytest

from debugtracer.checks.numerics.domain_guard import DomainGuard
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.domain_edges import DomainEdges, Edge
from debugtracer.trace.finding import Finding
from debugtracer.trace.step import StepRef
from debugtracer.trace.window import Window

LINE = Frame(file="train.py", line=20, function="sharpness", code="guess.log()")


def a_look(step: int, distance: float, **more: object) -> DomainEdges:
    known = {"op": "log", "kind": "zero", "dtype": "float32", "grain": 1.2e-38, "frame": LINE}
    return DomainEdges(ref=StepRef(iteration=step, step=step), edges=(Edge(distance=distance, **{**known, **more}),))


def judged(*looks: DomainEdges) -> list[Finding]:
    found: list[Finding] = []
    memories: dict[str, dict[object, object]] = {}
    for look in looks:
        found += DomainGuard().judge(
            Window(ref=look.ref, facts={DomainEdges: [look]}, came={DomainEdges: 1}, memories=memories)
        )
    return found


def series(*distances: float, **more: object) -> list[DomainEdges]:
    return [a_look(100 * number, distance, **more) for number, distance in enumerate(distances)]


def test_fires_on_an_input_that_arrives_soon():
    note, warning = judged(*series(0.4, 1e-9, 1e-15, 1e-21, 1e-27))
    assert (note.severity, note.step) == ("note", 200)
    assert (warning.severity, warning.kind, warning.step, warning.place.op) == (
        "warning",
        "log_domain",
        300,
        "aten::log",
    )
    assert warning.message == (
        "step 300, rank 0: the input of log (float32) comes within 1e-21 of 0, from 0.4 at step 0: at this pace it "
        "arrives in 282 steps; expected more than 1e-06, or an eps. Use F.log_softmax or F.logsigmoid instead of the "
        "logarithm of a probability, or clamp the input: x.clamp_min(1e-8)."
    )


def test_fires_on_exp_that_grows():
    exp = {"op": "exp", "kind": "overflow", "limit": 88.7}
    *_, warning = judged(*series(80.0, 50.0, 26.0, 6.0, **exp))
    assert (warning.severity, warning.kind) == ("warning", "exp_overflow")
    assert (
        "the input of exp (float32) comes within 6 of the largest finite input 88.7, from 80 at step 0"
        in warning.message
    )
    assert "expected at least 8.9 below. Subtract the largest input first" in warning.message


def test_an_input_on_the_edge_is_a_note():
    (finding,) = judged(a_look(1, 0.0, op="sqrt", kind="root"), a_look(2, 0.0, op="sqrt", kind="root"))
    assert (finding.severity, finding.kind) == ("note", "backward_nan_op")
    assert (
        "the input of sqrt (float32) lies on 0; expected more than 1e-12, or an eps. Add an eps inside the root"
        in finding.message
    )


def test_nearer_than_before_twice_is_a_note():
    (finding,) = judged(*series(0.1, 1e-7, 5e-8, 4e-8), a_look(400, 3e-8))
    assert (finding.severity, finding.step) == ("note", 200)


@pytest.mark.parametrize(
    "looks",
    [
        series(0.4, 0.3, 1e-3, 1e-5),  # on its way, not near
        series(1e-8, 1e-8, 1e-8, 1e-8),  # a floor
        series(0.1, 1e-7, 0.1, 1e-7),  # now and then
        series(1e-7, 1e-9, 1e-11, 1e-10, op="sqrt", kind="root"),
        [a_look(step, 10.0**-step) for step in (1, 7, 8, 9)],  # the first steps are not apart
        series(50.0, 40.0, 20.0, 15.0, op="exp", kind="overflow", limit=88.7),
    ],
)
def test_stays_silent_on_inputs_that_keep_away(looks):
    assert [f for f in judged(*looks) if f.severity != "note"] == []
    assert len(judged(*looks)) == 0


def test_at_the_threshold():
    assert judged(*series(1.0, 1e-6, 1e-6)) == []
    assert len(judged(*series(1.0, 9.9e-7, 9.9e-7))) == 1
    slow = judged(*series(1.0, 1e-7, 1e-9, 1e-11, 1e-13))  # 25 powers of ten are left, two in a hundred steps
    assert [f.severity for f in slow] == ["note"]
    assert judged(*series(1.0, 1e-5, 1e-5, dtype="float16"))[0].severity == "note"
