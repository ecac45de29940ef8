"""Learning rate, gradient and epsilon changed in a recorded update, beside the same update computed by torch."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor

from debugtracer.interventions.intervention import asked
from debugtracer.recorder.capsule.capsule import Capsule
from debugtracer.replay.offline.attempt import attempt, tape_of
from debugtracer.replay.offline.offline import run_capsule
from tests.replay.capsules import incident

Build = Callable[[list[Tensor], float], torch.optim.Optimizer]
OPTIMIZERS: dict[str, Build] = {
    "sgd": lambda p, lr: torch.optim.SGD(p, lr=lr),
    "sgd foreach": lambda p, lr: torch.optim.SGD(p, lr=lr, foreach=True),
    "sgd fused": lambda p, lr: torch.optim.SGD(p, lr=lr, fused=True),
    "adam": lambda p, lr: torch.optim.Adam(p, lr=lr, foreach=False),
    "adamw": lambda p, lr: torch.optim.AdamW(p, lr=lr, weight_decay=0.1, foreach=False),
    "adamw foreach": lambda p, lr: torch.optim.AdamW(p, lr=lr, weight_decay=0.1, foreach=True),
    "adamw fused": lambda p, lr: torch.optim.AdamW(p, lr=lr, weight_decay=0.1, fused=True),
    "rmsprop": lambda p, lr: torch.optim.RMSprop(p, lr=lr),
}


def weights() -> list[Tensor]:
    return [torch.tensor([1.0, -2.0], requires_grad=True), torch.tensor([3.0], requires_grad=True)]


def loss_of(w: list[Tensor]) -> Tensor:
    return (w[0].pow(2).sum() + w[1].pow(4).sum()) * 10


def recorded(folder: Path, build: Build, lr: float = 0.1) -> Capsule:
    w = weights()
    return incident(folder, lambda: loss_of(w), {"parameter a": w[0], "parameter b": w[1]}, update=build(w, lr))


def updated(capsule: Capsule, word: str) -> dict[str, Tensor]:
    tape = tape_of(capsule)
    asked(word).offline(tape)
    return run_capsule(capsule, changes=tape).targets


def by_torch(build: Build, lr: float, clip: float | None = None) -> list[Tensor]:
    w = weights()
    optimizer = build(w, lr)
    loss_of(w).backward()
    if clip is not None:
        torch.nn.utils.clip_grad_norm_(w, clip)
    optimizer.step()
    return [t.detach() for t in w]


@pytest.mark.parametrize("name", sorted(OPTIMIZERS))
def test_a_lower_rate_is_what_torch_computes_with_it(name: str, tmp_path: Path) -> None:
    build = OPTIMIZERS[name]
    here, there = updated(recorded(tmp_path, build), "lower-lr=10"), by_torch(build, 0.01)
    torch.testing.assert_close([here["parameter a"], here["parameter b"]], there)
    assert not torch.equal(there[0], by_torch(build, 0.1)[0])


@pytest.mark.parametrize("name", sorted(OPTIMIZERS))
def test_a_clipped_gradient_is_what_torch_computes_with_it(name: str, tmp_path: Path) -> None:
    build = OPTIMIZERS[name]
    here, there = updated(recorded(tmp_path, build), "clipped-gradient=2"), by_torch(build, 0.1, clip=2.0)
    torch.testing.assert_close([here["parameter a"], here["parameter b"]], there)


@pytest.mark.parametrize("name", ["adam", "adamw foreach", "adamw fused", "rmsprop"])
def test_a_larger_eps_is_what_torch_computes_with_it(name: str, tmp_path: Path) -> None:
    def with_eps(p: list[Tensor], lr: float) -> torch.optim.Optimizer:
        optimizer = OPTIMIZERS[name](p, lr)
        for group in optimizer.param_groups:
            group["eps"] = 5.0
        return optimizer

    here, there = updated(recorded(tmp_path, OPTIMIZERS[name]), "larger-eps=5"), by_torch(with_eps, 0.1)
    torch.testing.assert_close([here["parameter a"], here["parameter b"]], there)


def test_the_scores_of_an_update(tmp_path: Path) -> None:
    score = attempt(recorded(tmp_path, OPTIMIZERS["sgd"]), asked("clipped-gradient=2")).score
    assert score.loss == pytest.approx(860.0)
    assert score.grad_l2 == pytest.approx(2.0, rel=1e-4)
    assert score.finite_update is True
    assert score.change == "all gradients clipped to L2 norm 2"


def test_a_step_that_stopped_before_its_update_is_refused(tmp_path: Path) -> None:
    w = weights()
    capsule = incident(tmp_path, lambda: loss_of(w), {"parameter a": w[0], "parameter b": w[1]})
    for word in ("lower-lr", "clipped-gradient"):
        assert attempt(capsule, asked(word)).score.refused == "the capsule holds no update: the step stopped before it"
