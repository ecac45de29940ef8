"""What holds marked graphs."""

from __future__ import annotations

import sys
from collections import deque

import pytest
import torch

from debugtracer.observers.graph.graph_holder import GraphMark, held_most, holds, reached, tensors_in


def marked(count: int) -> list[torch.Tensor]:
    weight = torch.randn(3, requires_grad=True)
    losses = []
    for step in range(count):
        loss = (weight * step).sum()
        loss.grad_fn.metadata[GraphMark.KEY] = GraphMark(step, step, "loss")
        losses.append(loss)
    return losses


def test_marks_are_counted_through_sums_and_containers():
    losses = marked(6)
    total = sum(losses)
    for value in (
        losses,
        tuple(losses),
        deque(losses),
        {"a": losses},
        dict(enumerate(losses)),
        total,
        [total],
        torch.stack(losses),
    ):
        assert reached(value, "loss") == 6
        assert holds(value)
    assert reached(losses, "output") == 0
    assert reached(losses[0], "loss") == 1


@pytest.mark.parametrize("value", [None, 3, "x", torch.ones(2), torch.ones(2, requires_grad=True)], ids=repr)
def test_what_holds_no_graph(value):
    assert not holds(value)


def test_the_name_that_holds_most_is_found_on_the_stack():
    history = []
    for loss in marked(6):
        history += [loss]
    other = history[:2]
    name, frame = held_most(sys._getframe(), "loss", 6)
    assert (name, frame.code) == ("history", "history += [loss]")
    assert len(other) == 2


def test_a_minority_is_no_answer():
    few = marked(2)
    assert held_most(sys._getframe(), "loss", 20) == ("", None)
    assert len(list(tensors_in(few))) == 2
