"""Losses that stand at the best constant answer."""

from __future__ import annotations

import math
from typing import Any

import pytest

from debugtracer.checks.optimizer.constant_answer import ConstantAnswer
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.constant_answer import ConstantAnswer as Fact
from debugtracer.trace.facts.function_test import FunctionTest
from debugtracer.trace.facts.health import Health, ParamDynamics
from debugtracer.trace.facts.loss_call import LossCall
from debugtracer.trace.facts.wiring import OptimizerWiring, Wiring
from tests.spikes.series import findings, ref

VARIANCE = 0.45


def look(step: int, value: float = VARIANCE, **more: Any) -> Fact:
    return Fact(
        ref=ref(step),
        **{
            "loss": "mse_loss", "answer": "mean", "value": value, "called": value, "constant": VARIANCE,
            "rows": 640, "spread": 0.4, **more,
        },
    )  # fmt: skip


def looks(*steps: int, **more: Any) -> list[Fact]:
    return [look(step, **more) for step in steps]


def told(count: int, facts: list[Any], loss: float = VARIANCE, **others: Any) -> list[Any]:
    return findings(ConstantAnswer(), [loss] * count, facts, **others)


def two_optimizers() -> Wiring:
    one = OptimizerWiring(kind="Adam", frame=None, held=2, strangers=0)
    return Wiring(ref=ref(0), params=(), optimizers=(one, one))


def test_a_loss_at_the_variance_of_the_targets_is_a_note_with_both_numbers():
    (found,) = told(320, looks(0, 1, 2, 100, 200, 300))
    assert (found.severity, found.step, found.symptom) == ("note", 300, "no_learning")
    assert "mse_loss was 0.45 in 3 looks at steps 100..300" in found.message
    assert "the best constant answer (the mean of the targets) costs 0.45; expected less" in found.message
    assert found.message.endswith("the inputs are read, so print some of them beside their targets.")


def test_two_late_looks_are_enough_where_all_losses_are_there():
    assert [f.severity for f in told(280, looks(0, 1, 2, 100, 200))] == ["note"]
    assert not told(280, looks(0, 1, 2, 100, 200), loss=0.3)


def test_one_that_was_below_once_or_is_below_now_has_learnt():
    assert not told(520, [look(0, 0.42), *looks(1, 2, 100, 200, 300, 400, 500)])
    assert not told(520, looks(0, 1, 2, 100, 200, 300, 400, 500, value=0.43))


def test_the_first_losses_may_be_far_above():
    facts = [look(0, 13.0), look(100, 3.0), *looks(200, 300, 400)]
    assert [f.severity for f in told(520, facts)] == ["note"]
    assert not told(520, [look(0, 13.0), look(100, 3.0), look(200, 1.0), look(300, 0.6)])
    assert not told(520, [look(0, 13.0), *(look(s, v * VARIANCE) for s, v in ((200, 1.12), (300, 1.06), (400, 1.02)))])
    assert told(520, looks(0, 1, 2, 100, 200, 300, value=1.14 * VARIANCE))
    assert not told(520, looks(0, 1, 2, 100, 200, 300, value=1.16 * VARIANCE))


def test_a_thousand_steps_of_the_one_loss_are_a_warning():
    facts = looks(*range(0, 1200, 100), spread=0.005)
    assert [f.severity for f in told(1200, facts)] == ["note", "warning"]
    assert [f.severity for f in told(1200, [two_optimizers(), *facts])] == ["note"]
    assert [f.severity for f in told(1200, facts, loss=2 * VARIANCE)] == ["note"]
    for value in (0.98 * VARIANCE, 1.06 * VARIANCE):
        assert [f.severity for f in told(1200, looks(*range(0, 1200, 100), value=value, spread=0.005), loss=value)] == [
            "note"
        ]


def test_a_thousand_steps_of_a_model_that_reads_its_inputs_stay_a_note():
    """There may be nothing to learn: returns of a market, a task at its noise floor."""
    facts = looks(*range(0, 1200, 100), spread=0.05)
    assert [f.severity for f in told(1200, facts)] == ["note"]
    deaf = FunctionTest(ref=ref(0), trial="any_input", root="Net", changed=True)
    assert [f.severity for f in told(1200, [deaf, *facts])] == ["note", "warning"]


def test_soft_targets_cost_their_own_entropy():
    soft = {"constant": 0.6, "loss": "binary_cross_entropy", "answer": "shares"}
    assert not told(520, looks(0, 1, 2, 100, 200, 300, value=0.6, floor=0.59, **soft))
    assert not told(520, looks(0, 1, 2, 100, 200, 300, value=0.55, floor=0.4, **soft))
    assert told(520, looks(0, 1, 2, 100, 200, 300, value=0.6, floor=0.4, **soft))


def test_a_warm_up_and_few_rows_are_waited_for():
    rising = [1e-6 * step for step in range(520)]
    assert not told(520, looks(0, 1, 2, 100, 200, 300), lr=rising)
    assert not told(520, looks(0, 1, 2, 100, 200, 300, rows=48))


def test_pairs_are_told_where_they_are_the_whole_loss_of_one_optimizer():
    pairs = {"answer": "pairs", "value": math.log(2), "constant": math.log(2), "loss": "logsigmoid", "spread": None}
    facts = looks(*range(0, 1500, 100), called=math.log(2), **pairs)
    (found,) = told(1500, facts, loss=math.log(2))
    assert found.severity == "note"
    assert found.message.endswith("Print some inputs beside what is wanted of them.")
    assert not told(1500, facts, loss=1.0)
    assert not told(1500, [two_optimizers(), *facts], loss=math.log(2))


def test_log_c_of_many_classes_is_left_to_the_plateau():
    classes = {"answer": "classes", "value": math.log(10), "constant": math.log(10), "loss": "cross_entropy"}
    facts = looks(0, 1, 2, 100, 200, 300, called=math.log(10), **classes)
    call = LossCall(ref=ref(0), loss="cross_entropy", value=math.log(10), classes=10)
    assert told(320, facts, loss=math.log(10))
    assert not told(320, [call, *facts], loss=math.log(10))


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ([FunctionTest(ref=ref(0), trial="any_input", root="Net", changed=True)], "Net gives the same whatever"),
        ([], "follow the input to the loss, and overfit one batch."),
    ],
    ids=["unread", "alike"],
)
def test_what_is_known_of_the_answers_is_said(facts, words):
    (found,) = told(320, [*facts, *looks(0, 1, 2, 100, 200, 300, spread=0.01)])
    assert words in found.message


def test_a_gradient_that_does_not_come_back_is_said():
    rows = tuple(
        ParamDynamics(name=name, numel=4, dtype="float32", optimizer="SGD", lr=0.1, weight_l2=1.0, grad_l2=size)
        for name, size in (("first.weight", 1e-12), ("last.weight", 0.1))
    )
    (found,) = told(320, [Health(ref=ref(0), tensors=(), params=rows), *looks(0, 1, 2, 100, 200, 300)])
    assert "the gradient of first.weight is 1e-12, that of last.weight 0.1: look for what stops" in found.message


def test_a_difference_by_hand_counts_where_its_mean_square_is_the_loss():
    facts = looks(0, 1, 2, 100, 200, 300, loss="sub")
    (found,) = told(320, facts)
    assert (found.severity, "the mean square of a difference was 0.45 in 3 looks" in found.message) == ("note", True)
    assert not told(320, facts, loss=2 * VARIANCE)


def test_inputs_and_targets_that_were_shuffled_apart_are_a_warning_at_the_second_draw():
    drawn = (Frame("/p/lamps.py", 9), Frame("/p/lamps.py", 10))
    (found,) = told(320, looks(0, 1, 2, 100, 200, 300, drawn=drawn))
    assert (found.severity, found.kind, found.place.frame) == ("warning", "targets_misaligned", drawn[1])
    assert found.message.endswith("do not belong together: draw one order and put both in it.")
    assert not told(320, looks(0, 1, 2, 100, 200, 300, value=0.3, drawn=drawn), loss=0.3)
