"""Facts about the copy before the update: it gives back every bit, and stops when it is not worth its time."""

from __future__ import annotations

import copy
import gc
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch.optim import Optimizer

from debugtracer.recorder.run_state import parameters
from debugtracer.recorder.state.copies import Copies, UpdateCopy

OPTIMIZERS: dict[str, Callable[[Any], Optimizer]] = {
    "sgd": lambda p: torch.optim.SGD(p, lr=0.1),
    "sgd momentum": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9),
    "adamw": lambda p: torch.optim.AdamW(p, lr=0.1),
    "adamw fused": lambda p: torch.optim.AdamW(p, lr=0.1, fused=True),
    "amsgrad": lambda p: torch.optim.Adam(p, lr=0.1, amsgrad=True),
    "adagrad": lambda p: torch.optim.Adagrad(p, lr=0.1),
    "rmsprop centered": lambda p: torch.optim.RMSprop(p, lr=0.1, centered=True, momentum=0.5),
    "nadam": lambda p: torch.optim.NAdam(p, lr=0.1),
    "asgd": lambda p: torch.optim.ASGD(p, lr=0.1),
    "rprop": lambda p: torch.optim.Rprop(p, lr=0.1),
}


class Case:
    """A small model and its optimizer, with gradients that differ from step to step."""

    def __init__(self, make: Callable[[Any], Optimizer]) -> None:
        torch.manual_seed(0)
        self.model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
        self.optimizer = make(self.model.parameters())

    def step(self) -> None:
        self.optimizer.zero_grad()
        self.model(torch.randn(5, 3)).square().mean().backward()
        self.optimizer.step()

    def bits(self) -> tuple[Any, Any]:
        return copy.deepcopy(self.model.state_dict()), copy.deepcopy(self.optimizer.state_dict())


def same(a: Any, b: Any) -> bool:
    if isinstance(a, torch.Tensor):
        return a.dtype == b.dtype and torch.equal(a, b)
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    return bool(a == b)


def taken(case: Case) -> UpdateCopy:
    copied = UpdateCopy(case.optimizer, parameters(case.optimizer))
    copied.take()
    return copied


@pytest.mark.parametrize("name", OPTIMIZERS)
@pytest.mark.parametrize("warm", [0, 3])
def test_a_restored_state_is_the_state_bit_by_bit(name: str, warm: int) -> None:
    case = Case(OPTIMIZERS[name])
    for _ in range(warm):
        case.step()
    copied, before = taken(case), case.bits()
    case.step()
    assert not same(before, case.bits()), "the step changed nothing"
    copied.restore()
    assert same(before, case.bits())


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_a_step_from_the_restored_state_gives_the_same_bits(name: str) -> None:
    case = Case(OPTIMIZERS[name])
    case.step()
    copied, rng = taken(case), torch.get_rng_state()
    case.step()
    after = case.bits()
    copied.restore()
    torch.set_rng_state(rng)
    case.step()
    assert same(after, case.bits())


def test_state_that_did_not_exist_is_deleted() -> None:
    case = Case(OPTIMIZERS["adamw"])
    copied = taken(case)
    case.step()
    assert case.optimizer.state
    copied.restore()
    assert not case.optimizer.state


def test_one_key_that_did_not_exist_is_deleted() -> None:
    case = Case(OPTIMIZERS["adamw"])
    case.step()
    copied = taken(case)
    state = next(iter(case.optimizer.state.values()))
    state["mine"] = torch.ones(1)
    copied.restore()
    assert "mine" not in state


def test_a_key_that_was_removed_comes_back() -> None:
    case = Case(OPTIMIZERS["adamw"])
    case.step()
    copied, before = taken(case), case.bits()
    del next(iter(case.optimizer.state.values()))["exp_avg"]
    copied.restore()
    assert same(before, case.bits())


def test_the_settings_of_the_groups_come_back_and_their_parameters_stay() -> None:
    case = Case(OPTIMIZERS["sgd"])
    copied, kept = taken(case), list(case.optimizer.param_groups[0]["params"])
    case.optimizer.param_groups[0]["lr"] = 7.0
    copied.restore()
    assert case.optimizer.param_groups[0]["lr"] == 0.1
    assert all(a is b for a, b in zip(case.optimizer.param_groups[0]["params"], kept, strict=True))


def test_parameters_and_state_are_the_same_objects_after_a_restore() -> None:
    case = Case(OPTIMIZERS["adamw"])
    case.step()
    state = next(iter(case.optimizer.state.values()))
    weight, average = case.model[0].weight, state["exp_avg"]
    copied = taken(case)
    case.step()
    version = weight._version
    copied.restore()
    assert case.model[0].weight is weight
    assert next(iter(case.optimizer.state.values()))["exp_avg"] is average
    assert weight._version == version, "a live graph must still be able to run backward"


def test_the_second_copy_uses_the_buffers_of_the_first() -> None:
    case = Case(OPTIMIZERS["adamw"])
    case.step()
    copied = taken(case)
    pointers = [v.data_ptr() for v in copied.values] + [s["exp_avg"].data_ptr() for s in copied.state.values()]
    case.step()
    copied.take()
    assert [v.data_ptr() for v in copied.values] + [s["exp_avg"].data_ptr() for s in copied.state.values()] == pointers
    assert torch.equal(copied.values[0], case.model[0].weight)


def test_bytes_are_those_of_parameters_and_state() -> None:
    case = Case(OPTIMIZERS["adamw"])
    case.step()
    size = sum(p.nbytes for p in case.model.parameters())
    assert taken(case).nbytes == 3 * size + 4 * 4  # two averages, and a float32 step count per parameter


def test_the_last_copy_is_given_and_dies_with_its_optimizer() -> None:
    case = Case(OPTIMIZERS["sgd"])
    copies = Copies(2**30, 0.02)
    assert copies.take(case.optimizer, parameters(case.optimizer), 1.0) is None
    assert copies.get(case.optimizer) is not None
    case.optimizer = None  # type: ignore[assignment]
    gc.collect()
    assert len(copies.held) == 0


def test_an_added_group_is_copied_too() -> None:
    case, copies = Case(OPTIMIZERS["sgd"]), Copies(2**30, 0.02)
    copies.take(case.optimizer, parameters(case.optimizer), 1.0)
    extra = nn.Parameter(torch.ones(2))
    case.optimizer.add_param_group({"params": [extra], "lr": 0.5})
    copies.take(case.optimizer, parameters(case.optimizer), 1.0)
    with torch.no_grad():
        extra.zero_()
    copies.get(case.optimizer).restore()
    assert extra.tolist() == [1, 1]


def test_a_model_too_large_to_copy_is_not_copied_and_the_answer_says_why_once() -> None:
    case, copies = Case(OPTIMIZERS["sgd"]), Copies(100, 0.02)
    why = copies.take(case.optimizer, parameters(case.optimizer), 1.0)
    assert why == "its parameters and state need more than copy_bytes (100 bytes)"
    assert copies.get(case.optimizer) is None
    assert copies.take(case.optimizer, parameters(case.optimizer), 1.0) is None


def costs(copies: Copies, case: Case, cost_s: float, step_s: float, times: int = 5) -> list[str | None]:
    return [copies.judge(case.optimizer, parameters(case.optimizer), cost_s, step_s) for _ in range(times)]


def test_the_governor_backs_off_after_five_dear_copies() -> None:
    case, copies = Case(OPTIMIZERS["sgd"]), Copies(2**30, 0.02)
    said = costs(copies, case, 0.010, 0.100)
    assert said[:4] == [None] * 4
    assert said[4] == "the copy before the update took 10.0 ms, 10.0% of a step; allowed 2.0% (own_share)"
    assert copies.take(case.optimizer, parameters(case.optimizer), 1.0) is None
    assert copies.get(case.optimizer) is None


@pytest.mark.parametrize(("cost_s", "step_s"), [(0.001, 0.100), (0.0002, 0.0003)])
def test_the_governor_keeps_cheap_copies(cost_s: float, step_s: float) -> None:
    case, copies = Case(OPTIMIZERS["sgd"]), Copies(2**30, 0.02)
    assert costs(copies, case, cost_s, step_s, 20) == [None] * 20


def test_one_slow_copy_among_many_does_not_count() -> None:
    case, copies = Case(OPTIMIZERS["sgd"]), Copies(2**30, 0.02)
    costs(copies, case, 0.0001, 0.1, 8)
    assert costs(copies, case, 5.0, 0.1, 1) == [None]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_parameters_are_copied_at_any_cost(dtype: torch.dtype) -> None:
    case, copies = Case(OPTIMIZERS["sgd"]), Copies(2**30, 0.02)
    case.model.to(dtype)
    assert costs(copies, case, 1.0, 1.0, 10) == [None] * 10


@pytest.mark.parametrize("change", ["shape", "dtype", "number", "key"])
def test_a_state_whose_entries_are_others_than_last_time_is_copied_as_it_is_now(change: str) -> None:
    case = Case(OPTIMIZERS["adamw"])
    case.step()
    copied = taken(case)
    state = case.optimizer.state[case.model[0].weight]
    match change:
        case "shape":
            state["exp_avg"] = torch.full((1, 3), 2.0)
        case "dtype":
            state["exp_avg"] = state["exp_avg"].double() / 3
        case "number":
            state["exp_avg"] = 0.5
        case _:
            state["mine"] = state.pop("exp_avg")
    wanted = copy.deepcopy(state)
    copied.take()
    assert same(copied.state[case.model[0].weight], wanted)
    for _ in range(2):
        copied.take()
    assert same(copied.state[case.model[0].weight], wanted)


def test_a_state_that_is_gone_is_not_copied_into_old_buffers() -> None:
    case = Case(OPTIMIZERS["adamw"])
    case.step()
    copied = taken(case)
    case.optimizer.state.clear()
    copied.take()
    assert copied.state == {}
    case.step()
    copied.restore()
    assert not case.optimizer.state


def test_a_step_without_a_copy_leaves_none_of_an_earlier_one():
    """A replay that goes back a step would begin with weights of long ago."""
    parameter = torch.nn.Parameter(torch.ones(3))
    optimizer = torch.optim.SGD([parameter], lr=0.1)
    copies = Copies(2**20, 1.0)
    copies.take(optimizer, [parameter], 1.0)
    assert copies.get(optimizer) is not None
    copies.skip(optimizer)
    assert copies.get(optimizer) is None
    assert list(copies.held.values()) == []
    copies.take(optimizer, [parameter], 1.0)
    assert copies.get(optimizer) is not None


def test_the_state_of_a_tensor_that_is_in_no_group_is_left_alone() -> None:
    case, foreign = Case(OPTIMIZERS["adamw"]), torch.ones(2)
    case.step()
    case.optimizer.state[foreign] = {"seen": torch.ones(2)}
    copied = taken(case)
    assert foreign not in copied.state
    case.step()
    copied.take()
    copied.restore()
    assert torch.equal(case.optimizer.state[foreign]["seen"], torch.ones(2))


def test_a_state_of_the_same_names_and_shapes_is_copied_in_one_call() -> None:
    case = Case(OPTIMIZERS["adamw"])
    case.step()
    copied = taken(case)
    assert copied.take_same_state(case.optimizer)
    case.optimizer.state[case.model[0].weight]["exp_avg"] = torch.zeros(2, 2)
    assert not copied.take_same_state(case.optimizer)
