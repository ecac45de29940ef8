"""Updates beside the weights they change."""

from __future__ import annotations

from debugtracer.checks.optimizer.update_ratio import UpdateRatio
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.health import Health
from debugtracer.trace.facts.wiring import OptimizerWiring, Wiring
from debugtracer.trace.step import StepRef
from debugtracer.trace.window import Window
from tests.checks.test_snapshots import a_snapshot, an_update, judged


def steps(*ratios, **more):
    return [
        a_snapshot(i, params=(an_update("fc.weight", update_l2=10.0 * r, **more), an_update("out.weight")))
        for i, r in enumerate(ratios)
    ]


def test_an_update_as_large_as_the_weight_twice_in_a_row_is_a_warning():
    (finding,) = judged(UpdateRatio(), *steps(3.2, 3.2))
    assert (finding.severity, finding.kind, finding.place.param, finding.step) == (
        "warning",
        "lr_too_high",
        "fc.weight",
        0,
    )
    assert finding.message == (
        "step 0, rank 0: the step changes fc.weight by 3.2 times its norm (lr 0.001, Adam); expected 1e-4 to 1e-2. "
        "Divide the learning rate by 10."
    )
    assert finding.place.module == "fc"


def test_the_line_is_where_the_optimizer_was_built():
    facts = steps(3.2, 3.2)
    frame = Frame(file="/a/train.py", line=9)
    wiring = Wiring(
        ref=StepRef(iteration=0, step=0),
        params=(),
        optimizers=(OptimizerWiring(kind="Adam", frame=frame, held=2, strangers=0),),
    )
    window = Window(ref=facts[-1].ref, facts={Health: facts, Wiring: [wiring]}, came={Health: 1})
    assert next(iter(UpdateRatio().judge(window))).place.frame == frame


def test_a_tenth_is_a_note_and_the_usual_is_nothing():
    assert [f.severity for f in judged(UpdateRatio(), *steps(0.2, 0.2))] == ["note"]
    assert judged(UpdateRatio(), *steps(1e-3, 1e-3, 2e-3)) == []


def test_one_large_step_a_small_tensor_and_a_weight_near_zero_are_left_alone():
    assert judged(UpdateRatio(), *steps(3.0, 1e-3, 3.0)) == []
    assert judged(UpdateRatio(), *steps(3.0, 3.0, numel=32)) == []
    assert judged(UpdateRatio(), *steps(3.0, 3.0, weight_l2=1e-3)) == []


def test_weights_that_hardly_move_at_all_are_a_note():
    rest = [a_snapshot(i, params=(an_update("fc.weight", update_l2=1e-8),)) for i in range(2)]
    (finding,) = judged(UpdateRatio(), *rest)
    assert (finding.severity, finding.message.endswith("Multiply the learning rate by 10.")) == ("note", True)


def test_a_head_that_starts_small_must_grow():
    small = [a_snapshot(i, params=(an_update("pi.weight", weight_l2=0.5, update_l2=0.4),)) for i in range(3)]
    assert judged(UpdateRatio(), *small) == []
