"""A loss that adds up its rows under plain gradient descent."""

from __future__ import annotations

import msgspec

from debugtracer.spikes.summed_loss import sum_place, sum_told, summed
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.loss_call import LossCall
from debugtracer.trace.facts.wiring import OptimizerWiring, Wiring
from debugtracer.trace.window import Window
from tests.checks.optimizer.seen import at

BUILT, CALLED = Frame("/a/train.py", 27), Frame("/a/train.py", 31)
CALL = LossCall(ref=at(0), loss="cross_entropy", frame=CALLED, input_shape=(64, 10), reduction="sum", chosen=BUILT)


def found(*calls, kinds=("SGD",)):
    optimizers = tuple(OptimizerWiring(kind=kind, frame=None, held=2, strangers=0) for kind in kinds)
    wiring = Wiring(ref=at(0), params=(), optimizers=optimizers)
    return summed(Window(at(0), facts={Wiring: [wiring], LossCall: list(calls)}))


def test_the_only_loss_of_the_only_sgd():
    assert found(CALL) == CALL
    assert sum_told(CALL) == (
        "; cross_entropy (train.py:31) adds up 64 rows (reduction='sum', train.py:27), so its gradient is 64 times "
        "their mean"
    )
    place = sum_place(CALL)
    assert (place.frame, place.symptom_frame) == (BUILT, CALLED)


def test_a_sum_that_is_asked_for_in_the_call_or_nowhere_is_told_with_the_call():
    for chosen in (None, CALLED):
        call = msgspec.structs.replace(CALL, chosen=chosen)
        assert sum_told(call).startswith("; cross_entropy (train.py:31) adds up 64 rows, so")
        assert sum_place(call).frame == CALLED


def test_a_mean_few_rows_another_optimizer_or_another_loss_beside_it_say_nothing():
    assert found(msgspec.structs.replace(CALL, reduction="mean")) is None
    assert found(msgspec.structs.replace(CALL, input_shape=(4, 10))) is None
    assert found(CALL, kinds=("Adam",)) is None
    assert found(CALL, kinds=("SGD", "SGD")) is None
    assert found(CALL, msgspec.structs.replace(CALL, loss="mse_loss", reduction="mean")) is None
    assert found(msgspec.structs.replace(CALL, input_grad=False)) is None
