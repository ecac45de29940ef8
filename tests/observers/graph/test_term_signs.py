"""With which sign terms enter a loss."""

from __future__ import annotations

import pytest
import torch

from debugtracer.observers.graph.term_signs import signs_of


def signs(make):
    """The sign of an entropy and of a log-probability in a loss that is made of them."""
    leaf = torch.randn(6, requires_grad=True)
    entropy, log = leaf.tanh(), leaf.sigmoid()
    weight = torch.tensor([-1.0, 2.0, 3.0, -4.0, 5.0, 6.0])
    product = log * weight
    loss = make(entropy, log, product)
    numbers = [int(one.grad_fn._sequence_nr()) for one in (entropy, log)]
    found = signs_of([loss], numbers, {int(product.grad_fn._sequence_nr())})
    return [found.get(number) for number in numbers]


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda e, log, p: -p.mean() + 0.5 * e.mean(), [1, -1]),
        (lambda e, log, p: -p.mean() - 0.5 * e.mean(), [-1, -1]),
        (lambda e, log, p: -(p + 0.1 * e).sum() / 6, [-1, -1]),
        (lambda e, log, p: -torch.min(p, p.clamp(0, 1)).mean() + (-e).mean() * 0.1, [-1, -1]),
        (lambda e, log, p: p.mean() * -1.0 - e.mean() * -0.01, [1, -1]),
        (lambda e, log, p: (1 - p).mean() + e.square().mean(), [None, -1]),
        (lambda e, log, p: e.mean() - e.sum() - p.mean(), [None, -1]),
    ],
)
def test_signs_are_read_from_the_graph(make, expected):
    assert signs(make) == expected
