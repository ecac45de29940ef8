"""Updates beside the weights they change."""

from __future__ import annotations

from debugtracer.checks.optimizer.update_ratio import UpdateRatio, begun, full_grown, judgeable
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.health import Health
from debugtracer.trace.facts.wiring import OptimizerWiring, Wiring
from debugtracer.trace.step import StepRef
from debugtracer.trace.window import ENDED, Window
from tests.checks.test_snapshots import a_snapshot, an_update, judged
from tests.trace.facts.test_health import a_row

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


def test_a_loss_that_rises_first_and_comes_down_is_waited_for():
    peak = (3.0, 3.1, 3.0, *(5.2,) * 10, *(4.3,) * 10)
    assert judged(UpdateRatio(), *steps(3.2, 3.2), loss=peak) == []
    check, facts, memories = UpdateRatio(), steps(3.2, 3.2), {}
    first = Window(ref=facts[-1].ref, series={"loss": peak}, facts={Health: facts}, came={Health: 2}, memories=memories)
    assert list(check.judge(first)) == []
    stays = Window(ref=facts[-1].ref, series={"loss": (*peak, *(4.3,) * 20)}, facts={Health: facts}, memories=memories)
    assert [f.severity for f in check.judge(stays)] == ["warning"]


def test_a_first_batch_that_is_easy_is_not_what_the_run_began_with():
    check, facts, memories = UpdateRatio(), steps(3.2, 3.2), {}
    losses = (3.0, 5.9, 5.0, *(3.9, 4.1) * 10)
    for count in range(1, len(losses) + 1):
        window = Window(
            ref=facts[-1].ref,
            series={"loss": losses[:count]},
            facts={Health: facts},
            came={Health: 2} if count == 2 else {},
            memories=memories,
        )
        assert list(check.judge(window)) == []


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


def severities(*ratios, loss=RISES, **more):
    return [f.severity for f in judged(UpdateRatio(), *steps(*ratios, **more), loss=loss)]


def test_at_the_limits_of_the_ratio():
    assert severities(0.5, 0.5) == ["note"]
    assert severities(0.51, 0.51) == ["warning"]
    assert severities(0.1, 0.1) == []
    assert severities(0.101, 0.101) == ["note"]
    assert severities(0.51, 0.2) == ["note"]  # half of the weight twice is the warning


def test_at_the_limits_of_the_loss():
    rising = (2.0, 2.0, 2.0)
    assert severities(3.2, 3.2, loss=rising + (1.97,) * 20) == ["warning"]  # not below 98 per cent
    assert severities(3.2, 3.2, loss=rising + (1.95,) * 20) == []
    assert severities(3.2, 3.2, loss=rising + (2.6,) * 17) == ["warning"]
    assert severities(3.2, 3.2, loss=rising + (2.6,) * 16) == []  # too early


def test_a_short_run_is_judged_at_its_end_by_its_second_half():
    def ended(*losses):
        facts = steps(3.2, 3.2)
        window = Window(
            ref=facts[-1].ref,
            series={"loss": losses},
            facts={Health: facts},
            came={Health: 2},
            flags=frozenset({ENDED}),
        )
        return [f.severity for f in UpdateRatio().judge(window)]

    assert ended(*[2.0] * 3, *[9.0] * 1, *[2.6] * 4) == ["warning"]
    assert ended(*[2.0] * 3, *[9.0] * 1, *[1.0] * 4) == []
    assert ended(*[2.0] * 3, *[2.6] * 4) == []  # seven losses say nothing


def test_at_the_limits_of_a_weight_that_can_be_judged():
    assert severities(3.2, 3.2, numel=64) == ["warning"]
    assert severities(3.2, 3.2, numel=63) == []
    near = {"weight_l2": 1e-3 * 4096**0.5}
    assert not judgeable(an_update("w", **near))
    assert judgeable(an_update("w", weight_l2=1.01 * near["weight_l2"]))
    assert not judgeable(an_update("w", update_l2=None))
    row = a_row("w", shape=(64, 64))
    assert full_grown(row, an_update("w", weight_l2=0.3 * 8 * 1.01))  # 0.3 of 1/sqrt(64), in each of 4096 elements
    assert not full_grown(row, an_update("w", weight_l2=0.3 * 8))


def test_a_rest_has_a_rate_and_a_gradient():
    check = UpdateRatio()
    assert check.rests(an_update("w", update_l2=0.99e-6))
    assert not check.rests(an_update("w", update_l2=1e-6))  # 1e-7 of its norm
    assert not check.rests(an_update("w", update_l2=1e-8, lr=0.0))
    assert not check.rests(an_update("w", update_l2=1e-8, grad_l2=0.0))
    assert not check.rests(an_update("w", update_l2=1e-8, grad_l2=None))
    assert not check.rests(an_update("w", update_l2=None))
    rest = [a_snapshot(i, params=(an_update("a", update_l2=1e-8), an_update("b", update_l2=1e-2))) for i in range(2)]
    assert judged(check, *rest) == []  # one of them moves


def test_a_first_loss_that_the_first_updates_threw_away_is_what_the_run_began_with():
    assert begun([0.6, 980.0, 400.0]) == 0.6
    assert begun([0.1, 0.6, 0.7]) == 0.6
    assert begun([0.0, 0.6, 0.7]) == 0.6
