"""After any series of trials the world is bit for bit as before, those included that raise inside; the user's own step
goes on."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from debugtracer.interventions.intervention import interventions
from debugtracer.replay.trials.step_trials import StepTrials
from tests.interventions.building import Chain, at_the_incident, data, fit, made
from tests.interventions.parts import Doubled, HandNorm, Twice
from tests.watching import same_bits

PROGRAMS = {
    "hand-written norm, batch norm, dropout": (
        lambda: Chain(nn.Sequential(nn.BatchNorm1d(4), nn.Dropout(0.2), Relation())),
        torch.optim.Adam,
    ),
    "hand-written norm": (lambda: Chain(HandNorm()), torch.optim.Adam),
    "custom Function": (lambda: Chain(Twice()), lambda ps, lr=0.1: torch.optim.SGD(ps, lr=0.1, momentum=0.9)),
}


class Relation(nn.Module):
    """Divides a row by its own size, and counts its calls."""

    def __init__(self) -> None:
        super().__init__()
        self.calls, self.eps = 0, 0.0
        self.register_buffer("seen", torch.zeros(()))

    def forward(self, x: Tensor) -> Tensor:
        self.calls += 1
        self.seen += 1
        return x / (x.detach().abs().min() * 0.0 if self.calls == 3 else x.abs().sum(-1, keepdim=True) + self.eps)


def state(model: nn.Module, optimizer: torch.optim.Optimizer) -> Iterator[tuple[str, Any]]:
    """Everything that a trial may touch; tensors by value."""
    for name, tensor in (*model.named_parameters(), *model.named_buffers()):
        yield name, tensor.detach().clone()
        yield f"{name} address, version", (tensor.data_ptr(), tensor._version, tensor.dtype)
        yield f"{name}.grad", None if tensor.grad is None else tensor.grad.clone()
    for number, parameter in enumerate(p for g in optimizer.param_groups for p in g["params"]):
        for key, value in optimizer.state[parameter].items():
            yield f"state {number} {key}", value.clone() if isinstance(value, Tensor) else value
    yield "groups", [{k: v for k, v in g.items() if k != "params"} for g in optimizer.param_groups]
    for name, module in model.named_modules():
        yield f"attributes {name}", {k: v for k, v in vars(module).items() if not k.startswith("_")}
        yield f"forward {name}", "forward" in vars(module)
    yield "generators", (torch.get_rng_state(), random.getstate(), repr(np.random.get_state()))
    yield (
        "torch",
        (
            torch.get_default_dtype(),
            torch.is_grad_enabled(),
            torch.is_autocast_enabled("cpu"),
            torch.autocast.__enter__,
        ),
    )
    yield "Function", (Doubled.forward, Doubled.backward)


def differences(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """Names of what is no longer the same."""
    return [name for name in before | after if not alike(before.get(name), after.get(name))]


def alike(a: Any, b: Any) -> bool:
    if isinstance(a, Tensor) and isinstance(b, Tensor):
        return a.shape == b.shape and same_bits(a, b)
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(alike, a, b))
    return bool(a == b)


@pytest.mark.parametrize("program", PROGRAMS)
def test_every_trial_leaves_the_world_as_it_was_and_the_user_goes_on(monkeypatch, tmp_path, program):
    make, optimizer_of = PROGRAMS[program]
    watched, alone = make(), make()
    optimizer = optimizer_of(watched.parameters(), lr=0.01)
    ran: list[str] = []
    moments: list[dict[str, Any]] = []
    made_as, leave = StepTrials.__init__, StepTrials.__exit__

    def making(trials: StepTrials, *given: Any, **named: Any) -> None:
        moments.append(dict(state(watched, optimizer)))
        made_as(trials, *given, **named)

    def leaving(trials: StepTrials, *error: Any) -> None:
        leave(trials, *error)
        assert differences(moments.pop(), dict(state(watched, optimizer))) == []

    monkeypatch.setattr(StepTrials, "__init__", making)
    monkeypatch.setattr(StepTrials, "__exit__", leaving)

    def look(trials: StepTrials) -> None:
        order = [*interventions(), "unchanged"]
        random.Random(7).shuffle(order)
        for slug in order:
            score = trials.run(made(slug))
            ran.append(slug if not score.refused else "")
        trials.run(made("lower-lr", float("nan")))  # a change that is nonsense, too

    torch.manual_seed(11)
    assert at_the_incident(monkeypatch, tmp_path, lambda: fit(watched, data(), optimizer=optimizer), look) >= 1
    torch.manual_seed(11)
    fit(alone, data(), optimizer=optimizer_of(alone.parameters(), lr=0.01))
    assert len([slug for slug in ran if slug]) >= 8
    assert all(same_bits(a, b) for a, b in zip(watched.state_dict().values(), alone.state_dict().values(), strict=True))


def test_a_trial_that_raises_inside_leaves_the_world_as_it_was_too(monkeypatch, tmp_path):
    model = Chain(HandNorm())
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    raised: list[str] = []

    def look(trials: StepTrials) -> None:
        before = dict(state(model, optimizer))
        original = model.last.forward
        model.last.forward = lambda x: 1 / 0  # type: ignore[method-assign]
        raised.extend(trials.run(made(slug)).refused for slug in interventions())
        model.last.forward = original
        del model.last.forward
        trials.world.restore()
        before.pop("generators")
        assert [
            n for n in differences(before, dict(state(model, optimizer))) if n != "generators" and "version" not in n
        ] == []

    at_the_incident(monkeypatch, tmp_path, lambda: fit(model, data(), optimizer=optimizer), look)
    assert sum("ZeroDivisionError" in text for text in raised) >= 8
