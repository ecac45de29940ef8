"""Identities and versions of gradients."""

from __future__ import annotations

import torch
from torch import nn

from debugtracer.observers.optimizer.gradient_use import GradientUse, has_value, mark_of


def made() -> tuple[nn.Parameter, torch.optim.Optimizer, GradientUse]:
    p = nn.Parameter(torch.ones(3))
    optimizer = torch.optim.SGD([p], lr=0.1)
    return p, optimizer, GradientUse(optimizer, 0)


def backward(p: nn.Parameter, use: GradientUse, iteration: int = 0) -> bool:
    use.backward_begins((), iteration)
    p.sum().backward()
    return use.backward_ended()


def test_a_gradient_used_and_added_to_is_stale():
    p, optimizer, use = made()
    assert backward(p, use)
    optimizer.step()
    use.took()
    assert backward(p, use, 1)
    assert use.stale() == [p]
    assert use.iteration == 1


def test_one_that_only_stands_is_not():
    p, _, use = made()
    backward(p, use)
    use.took()
    use.backward_begins((), 1)
    assert not use.backward_ended()
    assert use.stale() == []


def test_clearing_in_any_way_ends_it():
    for clear in (
        lambda p: setattr(p, "grad", None),
        lambda p: p.grad.zero_(),
        lambda p: p.grad.data.zero_(),
        lambda p: p.grad.mul_(0.9),
    ):
        p, _, use = made()
        backward(p, use)
        use.took()
        clear(p)
        backward(p, use, 1)
        assert use.stale() == []


def test_clearing_between_two_backwards_ends_it_too():
    p, _, use = made()
    backward(p, use)
    use.took()
    backward(p, use, 1)
    assert p.grad is not None
    p.grad.data.zero_()
    backward(p, use, 2)
    assert use.stale() == []


def test_a_clip_after_the_update_is_no_clearing():
    p, _, use = made()
    backward(p, use)
    use.took()
    nn.utils.clip_grad_norm_([p], 0.1)
    use.clipped({id(p)})
    backward(p, use, 1)
    assert use.stale() == [p]


def test_values_and_marks():
    assert not has_value(None)
    assert not has_value(torch.zeros(3))
    assert has_value(torch.tensor([0.0, float("nan")]))
    assert has_value(torch.sparse_coo_tensor([[1]], [2.0], (4,)))
    assert not has_value(torch.sparse_coo_tensor(torch.zeros(1, 0, dtype=torch.long), torch.zeros(0), (4,)))
    p = nn.Parameter(torch.ones(1))
    assert mark_of(p) is None


def test_it_keeps_no_optimizer_alive():
    p, optimizer, use = made()
    del optimizer
    assert (use.optimizer(), use.held(), use.empty()) == (None, [], True)
    assert p.grad is None
