"""Nodes of a graph by their numbers."""

from __future__ import annotations

import torch

from debugtracer.observers.data.graph_numbers import numbers_in


def test_only_what_a_backward_would_pass_is_found():
    w = torch.ones(3, requires_grad=True)
    early, other = (w * 2).tanh(), (w * 3).tanh()
    loss = early.sum() + w.sum()
    numbers = {early.grad_fn._sequence_nr(), other.grad_fn._sequence_nr()}
    assert numbers_in([loss], numbers) == {early.grad_fn._sequence_nr()}
    assert numbers_in([loss.detach()], numbers) == set()
    assert numbers_in([loss + other.sum()], numbers) == numbers
