"""Updates beside the weights they change."""

from __future__ import annotations

from debugtracer.checks.optimizer.update_ratio import UpdateRatio
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.health import Health
from debugtracer.trace.facts.wiring import OptimizerWiring, Wiring
from debugtracer.trace.step import StepRef
from debugtracer.trace.window import ENDED, Window
from tests.checks.test_snapshots import a_snapshot, an_update, judged

RISES = (2.3, 2.4, 2.2) + (2.6,) * 20


def steps(*ratios, **more):
    return [
        a_snapshot(i, params=(an_update("fc.weight", update_l2=10.0 * r, **more), an_update("out.weight")))
        for i, r in enumerate(ratios)
    ]


def test_an_update_as_large_as_the_weight_twice_in_a_row_is_a_warning():
    (finding,) = judged(UpdateRatio(), *steps(3.2, 3.2), loss=RISES)
    assert (finding.severity, finding.kind, finding.place.param, finding.step) == (
        "warning",
        "lr_too_high",
        "fc.weight",
        0,
    )
    assert finding.message == (
        "step 0, rank 0: the step changes fc.weight by 3.2 times its norm (lr 0.001, Adam) and the loss, 2.6, is not "
        "below the 2.3 it began with; expected 1e-4 to 1e-2 and a loss that falls. Try a lower learning rate."
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
    seen = {Health: facts, Wiring: [wiring]}
    window = Window(ref=facts[-1].ref, series={"loss": RISES}, facts=seen, came={Health: 1})
    assert next(iter(UpdateRatio().judge(window))).place.frame == frame


def test_a_tenth_is_a_note_and_the_usual_is_nothing():
    assert [f.severity for f in judged(UpdateRatio(), *steps(0.2, 0.2), loss=RISES)] == ["note"]
    assert judged(UpdateRatio(), *steps(1e-3, 1e-3, 2e-3), loss=RISES) == []


def test_one_large_step_a_small_tensor_and_a_weight_near_zero_are_left_alone():
    assert judged(UpdateRatio(), *steps(3.0, 1e-3, 3.0), loss=RISES) == []
    assert judged(UpdateRatio(), *steps(3.0, 3.0, numel=32), loss=RISES) == []
    assert judged(UpdateRatio(), *steps(3.0, 3.0, weight_l2=1e-3), loss=RISES) == []


def test_a_rate_from_which_the_loss_falls_is_left_alone_and_a_loss_of_few_steps_is_waited_for():
    assert judged(UpdateRatio(), *steps(3.2, 3.2), loss=(2.3, 2.4, 2.2) + (1.9,) * 20) == []
    assert judged(UpdateRatio(), *steps(3.2, 3.2), loss=RISES[:15]) == []


def test_large_updates_of_the_first_steps_are_told_when_the_loss_has_spoken():
    check, facts, memories = UpdateRatio(), steps(3.2, 3.2), {}
    early = Window(
        ref=facts[-1].ref, series={"loss": RISES[:2]}, facts={Health: facts}, came={Health: 2}, memories=memories
    )
    assert list(check.judge(early)) == []
    ended = Window(
        ref=facts[-1].ref,
        series={"loss": RISES[:15]},
        facts={Health: facts},
        flags=frozenset({ENDED}),
        memories=memories,
    )
    assert [f.step for f in check.judge(ended)] == [0]
    assert list(check.judge(ended)) == []


def test_weights_that_hardly_move_at_all_are_a_note():
    rest = [a_snapshot(i, params=(an_update("fc.weight", update_l2=1e-8),)) for i in range(2)]
    (finding,) = judged(UpdateRatio(), *rest)
    assert (finding.severity, finding.message.endswith("Multiply the learning rate by 10.")) == ("note", True)


def test_a_head_that_starts_small_must_grow():
    small = [a_snapshot(i, params=(an_update("pi.weight", weight_l2=0.5, update_l2=0.4),)) for i in range(3)]
    assert judged(UpdateRatio(), *small) == []
