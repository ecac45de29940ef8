"""Facts about the health gate: a healthy run keeps its bits, and a bad gradient is seen at the step that made it, by
each way of reading."""

from __future__ import annotations

import copy
import math
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from debugtracer.errors import StoppedByTracer
from tests.recorder.watched import Watched

GATES = ["auto", "sync", "device", "late"]
OPTIMIZERS = {
    "sgd": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9),
    "adamw": lambda p: torch.optim.AdamW(p, lr=0.01, foreach=True),
    "adamw fused": lambda p: torch.optim.AdamW(p, lr=0.01, fused=True),
    "sgd fused": lambda p: torch.optim.SGD(p, lr=0.1, fused=True),
    "adagrad fused": lambda p: torch.optim.Adagrad(p, lr=0.1, fused=True),
}


class Loop:
    """A loop of a few steps that may spoil one gradient just before its update."""

    def __init__(
        self,
        make: Any = OPTIMIZERS["adamw fused"],
        bad_step: int = -1,
        bad: float = float("nan"),
        bad_loss: bool = False,
        spare: bool = False,
    ) -> None:
        torch.manual_seed(0)
        self.model = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.2), nn.Tanh(), nn.Linear(8, 1))
        self.spare = nn.Parameter(torch.ones(1)) if spare else None
        """Takes the bad gradient without any effect on the loss."""
        self.optimizer: Optimizer = make([*self.model.parameters(), *([self.spare] if self.spare is not None else [])])
        self.bad_step, self.bad, self.bad_loss = bad_step, bad, bad_loss
        self.before: list[dict[str, Tensor]] = []
        self.losses: list[float] = []

    def run(self, steps: int = 5) -> None:
        for step in range(steps):
            self.optimizer.zero_grad()
            loss = self.model(torch.randn(6, 4)).square().mean()
            if step == self.bad_step and self.bad_loss:
                loss = loss * self.bad
            loss.backward()
            if step == self.bad_step and not self.bad_loss:
                if self.spare is not None:
                    self.spare.grad = torch.full((1,), self.bad)
                else:
                    self.model[3].weight.grad[0, 0] = self.bad
            self.before.append(self.bits())
            self.optimizer.step()
            self.losses.append(loss.item())

    def bits(self) -> dict[str, Tensor]:
        state = {
            f"{n}.{k}": v
            for n, s in self.optimizer.state_dict()["state"].items()
            for k, v in s.items()
            if isinstance(v, Tensor)
        }
        return copy.deepcopy(
            {**self.model.state_dict(), **state, **({"spare": self.spare.detach()} if self.spare is not None else {})}
        )


def same(a: dict[str, Tensor], b: dict[str, Tensor]) -> bool:
    return a.keys() == b.keys() and all(torch.equal(a[k], b[k]) for k in a)


@pytest.mark.parametrize("name", OPTIMIZERS)
@pytest.mark.parametrize("gate", GATES)
def test_a_healthy_run_has_the_bits_of_a_bare_one(name: str, gate: str) -> None:
    bare, seen = Loop(OPTIMIZERS[name]), Loop(OPTIMIZERS[name])
    torch.manual_seed(1)
    bare.run()
    torch.manual_seed(1)
    with Watched(gate=gate) as watched:
        seen.run()
    assert watched.alarms == []
    assert seen.losses == bare.losses
    assert same(seen.bits(), bare.bits())
    assert watched.state.step == 5


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf")])
@pytest.mark.parametrize("gate", ["auto", "sync"])
def test_read_at_once_a_bad_gradient_stops_before_its_update(gate: str, bad: float) -> None:
    loop = Loop(bad_step=2, bad=bad)
    with Watched(gate=gate, stops=True) as watched, pytest.raises(StoppedByTracer):
        loop.run()
    assert watched.symptoms == [("inf_grad", 2)]
    assert same(loop.bits(), loop.before[2])
    assert watched.alarms[0].optimizer is loop.optimizer
    assert not math.isfinite(watched.alarms[0].grad_l2 or 0.0)
    assert watched.alarms[0].late == ""


@pytest.mark.parametrize("name", ["adamw fused", "sgd fused", "adagrad fused"])
@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_gated_on_the_device_the_bad_update_is_skipped_and_told_one_step_later(name: str, bad: float) -> None:
    loop = Loop(OPTIMIZERS[name], bad_step=2, bad=bad)
    with Watched(gate="device", stops=True) as watched, pytest.raises(StoppedByTracer):
        loop.run()
    assert watched.symptoms == [("inf_grad", 2)]
    assert len(loop.before) == 4, "the next step's gate told it"
    assert same(loop.bits(), loop.before[2]), "the update of the bad step was written"
    assert watched.alarms[0].late == ""
    assert watched.alarms[0].segment is watched.tape.previous


@pytest.mark.parametrize("gate", ["device", "late"])
def test_a_bad_loss_on_the_cpu_is_told_before_its_backward_whatever_the_gate(gate: str) -> None:
    loop = Loop(bad_step=2, bad_loss=True)
    with Watched(gate=gate, stops=True) as watched, pytest.raises(StoppedByTracer):
        loop.run()
    assert watched.symptoms == [("nan_loss", 2)]
    assert len(loop.before) == 2


def test_read_late_a_bad_gradient_is_told_one_step_later_and_its_update_is_written() -> None:
    loop = Loop(OPTIMIZERS["adamw"], bad_step=2, spare=True)
    with Watched(gate="late", mode="prod", stops=True) as watched, pytest.raises(StoppedByTracer):
        loop.run()
    assert watched.symptoms == [("inf_grad", 2)]
    assert not same(loop.bits(), loop.before[2])
    assert watched.alarms[0].written


@pytest.mark.parametrize("optimizer", ["adamw", "adamw fused"])
def test_read_late_an_update_that_makes_weights_bad_is_told_with_its_own_step(optimizer: str) -> None:
    loop = Loop(OPTIMIZERS[optimizer])
    with Watched(gate="late", mode="prod") as watched:
        loop.run(2)
        loop.optimizer.param_groups[0]["lr"] = float("inf")
        loop.run(1)
        watched.health_gate.collect()
    assert watched.symptoms == [("bad_update", 2)]
    assert watched.alarms[0].written and watched.alarms[0].late == ""


@pytest.mark.parametrize("gate", ["device", "late"])
def test_the_last_step_of_a_run_is_told_when_the_box_is_emptied(gate: str) -> None:
    loop = Loop(bad_step=4)
    with Watched(gate=gate) as watched:
        loop.run(5)
        assert watched.alarms == []
        watched.health_gate.collect()
    assert watched.symptoms == [("inf_grad", 4)]


@pytest.mark.parametrize("gate", GATES)
def test_every_step_publishes_its_numbers_once(gate: str) -> None:
    loop = Loop()
    with Watched(gate=gate) as watched:
        loop.run()
        watched.health_gate.collect()
    assert [step for step, _ in watched.points] == [0, 1, 2, 3, 4]
    for (_, values), loss in zip(watched.points, loop.losses, strict=True):
        assert values["loss"] == pytest.approx(loss)
        assert values["grad_l2"] > 0
        assert values["lr"] == 0.01
        assert values["step_s"] > 0


@pytest.mark.parametrize("gate", GATES)
def test_the_gradient_norm_is_that_of_all_gradients(gate: str) -> None:
    loop = Loop()
    with Watched(gate=gate) as watched:
        loop.run(1)
        watched.health_gate.collect()
    expected = math.sqrt(sum(p.grad.double().square().sum().item() for p in loop.model.parameters()))
    assert watched.points[0][1]["grad_l2"] == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("gate", ["auto", "device", "late"])
def test_a_large_finite_gradient_whose_norm_overflows_is_no_alarm_and_is_written(gate: str) -> None:
    loop = Loop(bad_step=2, bad=1e30)
    with Watched(gate=gate, stops=True) as watched:
        loop.run()
        watched.health_gate.collect()
    assert watched.alarms == []
    assert not same(loop.bits(), loop.before[2])


def test_a_fault_born_inside_the_step_is_told_after_it() -> None:
    loop = Loop(lambda p: torch.optim.SGD(p, lr=0.1))
    loop.run(1)
    with Watched(stops=True) as watched:
        loop.optimizer.param_groups[0]["lr"] = float("inf")
        with pytest.raises(StoppedByTracer):
            loop.run(1)
    assert watched.symptoms == [("bad_update", 0)]
    copied = watched.copies.get(loop.optimizer)
    assert copied is not None
    copied.restore()
    assert all(torch.isfinite(p).all() for p in loop.model.parameters())


def test_no_second_alarm_until_a_healthy_step() -> None:
    loop = Loop(lambda p: torch.optim.SGD(p, lr=0.0), bad_step=1, bad=float("inf"))
    with Watched() as watched:
        loop.run(3)  # lr 0 times inf is NaN: every later step is bad too
        assert watched.symptoms == [("inf_grad", 1)]
        with torch.no_grad():
            for p in loop.model.parameters():
                p.nan_to_num_(0.0)
        loop.bad_step = 1
        loop.run(2)
    assert [s for s, _ in watched.symptoms] == ["inf_grad", "inf_grad"]


def test_found_inf_is_taken_off_the_optimizer() -> None:
    loop = Loop()
    with Watched(gate="device"):
        loop.run(2)
    assert not hasattr(loop.optimizer, "found_inf")
    assert not hasattr(loop.optimizer, "grad_scale")


def test_an_accumulated_step_tells_the_microbatch_of_its_bad_loss() -> None:
    model, watched = nn.Linear(4, 1), Watched(stops=True)
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)
    x = torch.randn(3, 2, 4)
    x[2, 0, 0] = float("nan")
    with watched, pytest.raises(StoppedByTracer):
        for row in x:
            model(row).square().mean().backward()
        optimizer.step()
    alarm = watched.alarms[0]
    assert (alarm.symptom, alarm.microbatch, alarm.iteration, alarm.step) == ("nan_loss", 2, 2, 0)


def test_a_step_of_the_user_s_own_is_not_trusted_to_gate_itself() -> None:
    class Mine(torch.optim.AdamW):
        def step(self, closure: Any = None) -> None:  # type: ignore[override]
            super().step(closure)

    loop = Loop(lambda p: Mine(p, fused=True), bad_step=2)
    with Watched(gate="device", stops=True) as watched, pytest.raises(StoppedByTracer):
        loop.run()
    assert watched.symptoms == [("inf_grad", 2)]
    assert len(loop.before) == 3, "read at once"
    assert same(loop.bits(), loop.before[2])


def test_how_the_canary_is_read_follows_the_place_and_the_mode() -> None:
    loop, plain = Loop(), Loop(OPTIMIZERS["adamw"])
    meta = [torch.ones(1, device="meta")]
    for mode, optimizer, tensors, expected in [
        ("dev", loop.optimizer, list(loop.model.parameters()), "sync"),
        ("dev", loop.optimizer, meta, "device"),
        ("dev", plain.optimizer, meta, "sync"),
        ("observe", loop.optimizer, meta, "late"),
        ("val", loop.optimizer, meta, "sync"),
        ("prod", loop.optimizer, meta, "late"),
        ("prod", loop.optimizer, [], "sync"),
    ]:
        assert Watched(mode=mode).health_gate.reading(optimizer, tensors) == expected
    assert Watched(gate="late").health_gate.reading(loop.optimizer, []) == "late"


def test_nothing_syncs_on_the_cpu() -> None:
    loop = Loop()
    with Watched() as watched:
        loop.run()
    assert watched.state.host_syncs == 0


@pytest.mark.parametrize("later", [False, True])
def test_the_norm_of_a_clip_serves_only_until_the_next_backward(later: bool) -> None:
    model = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with Watched() as watched:
        model(torch.ones(2, 4)).mean().backward()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1e-3)
        watched.health_gate.gradient_norm.clipped(list(model.parameters()), norm)
        if later:
            loss = model(torch.ones(2, 4)).mean()
            loss.register_hook(lambda g: g * float("nan"))
            loss.backward()
        optimizer.step()
    assert watched.symptoms[:1] == ([("inf_grad", 0)] if later else [])
    assert later or watched.points[0][1]["grad_l2"] == norm.item()
