"""What is measured before an update, sent after it and read later."""

from __future__ import annotations

import gc
from types import SimpleNamespace

import torch

from debugtracer.recorder.gate.device_numbers import DeviceNumbers
from debugtracer.recorder.gate.late_reading import LateReading
from debugtracer.recorder.gate.pending_read import PendingRead
from debugtracer.recorder.tape.step_tape import Segment

WEIGHT = torch.ones(2, requires_grad=True)
OPTIMIZER = torch.optim.SGD([WEIGHT], lr=0.1)
GRADIENTS, LOSSES = [torch.tensor([3.0]), torch.tensor([4.0])], [torch.tensor(0.5)]


def pending(gated: bool = False, scaler: object = None) -> PendingRead:
    return PendingRead(OPTIMIZER, Segment(0), 7, gated, scaler=scaler)


def test_norms_of_the_weights_join_what_was_measured_before_the_update() -> None:
    reads = LateReading(DeviceNumbers())
    reads.measure(pending(), GRADIENTS, LOSSES)
    assert reads.take() is None, "nothing is sent before the update"
    reads.send_with([torch.tensor([6.0, 8.0])])
    assert reads.join({"lr": 0.1})
    taken = reads.take()
    assert taken is not None
    (numbers, sent) = taken
    assert numbers[:4] == (5.0, [0.5], False, 10.0) and (sent.step, sent.numbers) == (7, {"lr": 0.1})
    assert not reads.join({})


def test_a_norm_that_the_loop_has_measured_serves() -> None:
    reads = LateReading(DeviceNumbers())
    reads.measure(pending(), [], LOSSES, clip=torch.tensor(2.0))
    reads.send()
    taken = reads.take()
    assert taken is not None and taken[0][:4] == (2.0, [0.5], False, 0.0)


def test_what_the_device_judges_comes_with_its_flag() -> None:
    reads = LateReading(DeviceNumbers())
    flag = reads.judged(pending(gated=True), [torch.tensor([float("nan")])], LOSSES)
    reads.send_with([torch.tensor([6.0, 8.0])])
    taken = reads.take()
    assert flag is not None and flag.item() == 1.0
    assert taken is not None and taken[0].bad and taken[0].param_l2 == 10.0


class Scaler:
    """What torch's scaler keeps of its scale."""

    def __init__(self) -> None:
        self._scale = torch.tensor(1024.0)


def test_the_scale_of_a_scaler_is_read_and_kept_where_the_update_was_let_through() -> None:
    reads, scaler = LateReading(DeviceNumbers()), Scaler()
    for weights in ([], [torch.tensor([1.0])]):
        reads.measure(pending(True, scaler), GRADIENTS, LOSSES)
        reads.send_with(weights)
        taken = reads.take()
        assert taken is not None and taken[0].scale == 1024.0
        assert reads.worked_scale.get(scaler) == (1024.0 if weights else None)


def test_a_scaler_that_is_gone_leaves_no_scale_to_one_at_its_address() -> None:
    reads = LateReading(DeviceNumbers())
    reads.measure(pending(True, Scaler()), GRADIENTS, LOSSES)
    reads.send_with([torch.tensor([1.0])])
    reads.take()
    gc.collect()
    assert list(reads.worked_scale) == []


def test_without_gradients_or_a_scale_nothing_is_sent() -> None:
    reads = LateReading(DeviceNumbers())
    reads.measure(pending(), [], LOSSES)
    reads.measure(pending(True, SimpleNamespace(_scale=None)), GRADIENTS, LOSSES)
    assert reads.judged(pending(True), [], LOSSES) is None
    reads.send_with([torch.ones(1)])
    assert reads.take() is None
