"""What Functions of a program's own pass back, in real loops."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.autograd import Function

from debugtracer.observers.model.zero_backwards import is_look
from debugtracer.trace.facts.zero_backward import ZeroBackward
from tests.observers.told import facts, findings
from tests.watching import under_watch


class Reverse(Function):
    """A gradient that is turned round."""

    @staticmethod
    def forward(ctx, x, strength):
        ctx.strength = strength
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        return -ctx.strength * grad, None


class Scale(Reverse):
    """A gradient times a number."""

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.strength, None


class Stop(Reverse):
    """A gradient that is stopped."""

    @staticmethod
    def backward(ctx, grad):
        return None, None


class Gate(Function):
    """A step with a gradient near 0, which its threshold does not get."""

    @staticmethod
    def forward(ctx, x, threshold):
        ctx.save_for_backward(x)
        return (x > threshold).float()

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad / (1 + x.abs()), torch.zeros(())


def run(out: Path, pass_on: Callable[[Tensor, int], Tensor], watched: bool = True, steps: int = 70) -> Tensor:
    torch.manual_seed(0)
    body, head, site = nn.Linear(6, 4), nn.Linear(4, 1), nn.Linear(4, 1)
    optimizer = torch.optim.SGD([*body.parameters(), *head.parameters(), *site.parameters()], lr=0.05)

    def loop() -> None:
        for step in range(steps):
            x = torch.randn(8, 6)
            seen = body(x)
            loss = (head(seen) - x[:, :1]).square().mean() + (site(pass_on(seen, step)) - 1).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

    if watched:
        with under_watch(out):
            loop()
    else:
        loop()
    return body.weight.detach().clone()


def reversed_by_nothing(seen: Tensor, step: int) -> Tensor:
    strength = step // 1000
    return Reverse.apply(seen, strength)


def test_a_reversal_by_a_whole_0_is_told_with_its_factor(tmp_path):
    run(tmp_path, reversed_by_nothing)
    seen = facts(tmp_path, ZeroBackward)
    assert len(seen) > 10 and all(fact.zero and fact.reverses for fact in seen)
    assert (seen[0].function, seen[0].factor, seen[0].values) == ("Reverse", "strength", 32)
    assert seen[0].made is not None and seen[0].made.code == "strength = step // 1000"
    (finding,) = findings(tmp_path, "zero-backward")
    assert (finding.severity, finding.place.frame) == ("warning", seen[0].made)


def test_a_reversal_by_a_broken_0_is_told(tmp_path):
    run(tmp_path, lambda seen, step: Reverse.apply(seen, 0.0))
    assert [f.severity for f in findings(tmp_path, "zero-backward")] == ["warning"]


def test_a_part_that_is_frozen_by_a_factor_of_0_is_a_note(tmp_path):
    run(tmp_path, lambda seen, step: Scale.apply(seen, 0.0))
    assert [f.severity for f in findings(tmp_path, "zero-backward")] == ["note"]


def test_a_factor_that_rises_from_0_ends_the_looks(tmp_path):
    run(tmp_path, lambda seen, step: Reverse.apply(seen, step / 70))
    assert [fact.zero for fact in facts(tmp_path, ZeroBackward)] == [True, False]
    assert findings(tmp_path, "zero-backward") == []


def test_a_factor_that_is_0_for_half_of_the_run_is_silent(tmp_path):
    run(tmp_path, lambda seen, step: Reverse.apply(seen, 0.0 if step < 40 else 1.0))
    assert findings(tmp_path, "zero-backward") == []


def test_none_and_an_input_beside_one_that_learns_are_silent(tmp_path):
    threshold = torch.zeros((), requires_grad=True)
    run(tmp_path / "a", lambda seen, step: Stop.apply(seen, 0.0))
    run(tmp_path / "b", lambda seen, step: Gate.apply(seen, threshold))
    for name in "ab":
        assert not any(fact.zero for fact in facts(tmp_path / name, ZeroBackward))
        assert findings(tmp_path / name, "zero-backward") == []


def test_where_no_gradient_comes_in_there_is_nothing_to_see(tmp_path):
    run(tmp_path, lambda seen, step: 0 * Reverse.apply(seen, 0.0))
    assert facts(tmp_path, ZeroBackward) == []


def test_training_is_the_same_bit_for_bit(tmp_path):
    plain = run(tmp_path, reversed_by_nothing, watched=False)
    assert torch.equal(plain, run(tmp_path / "a", reversed_by_nothing))


def test_looks_lie_further_and_further_apart():
    assert [step for step in range(40) if is_look(step)] == [
        0,
        1,
        2,
        3,
        4,
        5,
        6,
        7,
        8,
        9,
        12,
        13,
        16,
        17,
        24,
        25,
        32,
        33,
    ]
