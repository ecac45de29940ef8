"""What keeps a value away from an edge."""

from __future__ import annotations

import pytest
import torch

from debugtracer.observers.numerics.domain_guards import Guards
from debugtracer.observers.numerics.domain_margin import margin_of

X = torch.tensor([0.0, 0.5, 0.9], requires_grad=True)


def guarded(op, name, args, output):
    guards = Guards()
    guards.remember(name, args, {}, output)
    return guards.of(margin_of(op, (output,))).holds


def test_an_eps_and_a_clamp_hold():
    assert guarded("log", "add", (X, 1e-8), X + 1e-8)
    assert guarded("log", "clamp", (X, 1e-8), X.clamp(1e-8))
    assert guarded("log", "clamp_min", (X, 1e-8), X.clamp_min(1e-8))
    assert guarded("sqrt", "maximum", (X, torch.tensor(1e-8)), torch.maximum(X, torch.tensor(1e-8)))
    assert guarded("acos", "clamp", (X, -0.999, 0.999), X.clamp(-0.999, 0.999))
    assert guarded("exp", "clamp_max", (X, 20.0), X.clamp_max(20.0))


def test_they_hold_through_views_and_choices():
    guards, output = Guards(), X + 1e-8
    guards.remember("add", (X, 1e-8), {}, output)
    assert guards.of(margin_of("log", (output.view(1, 3)[0],))).holds
    assert Guards().of(margin_of("sqrt", (torch.where(X > 0, X, 1.0),))).holds


def test_what_does_not_help_does_not_hold():
    assert not guarded("log", "add", (X, 0.0), X + 0.0)
    assert not guarded("log", "add", (X - 1, 1e-8), X - 1 + 1e-8)  # negative values
    assert not guarded("log", "add", (X.half(), 1e-8), X.half() + 1e-8)  # float16 cannot hold it
    assert not guarded("acos", "clamp", (X, -1.0, 1.0), X.clamp(-1.0, 1.0))
    assert not guarded("log", "clamp_max", (X, 1.0), X.clamp_max(1.0))


def test_the_number_something_is_subtracted_from_is_remembered():
    guards, output = Guards(), 1.0 - X
    guards.remember("__rsub__", (X, 1.0), {}, output)
    guard = guards.of(margin_of("log", (output,)))
    assert (guard.offset, guard.holds) == (1.0, False)


def test_the_root_of_what_is_guarded_is_guarded():
    guards, inner = Guards(), X + 1e-12
    guards.remember("add", (X, 1e-12), {}, inner)
    root = inner.sqrt()
    guards.root(guards.of(margin_of("sqrt", (inner,))), root)
    guard = guards.of(margin_of("div", (1.0, root)))
    assert guard.low == pytest.approx(1e-6)
    assert guard.holds
