"""What a save remembers of the optimizers."""

from __future__ import annotations

import torch
from torch import nn

from debugtracer.observers.checkpoint.training_state import SavedState, lr_of, misplaced, setup_of


def saved(*order: list[str]) -> SavedState:
    return SavedState(None, {"weights"}, 3, None, None, set(), list(order), None, None)


def test_the_setup_is_class_and_first_rate_whatever_a_schedule_made_of_it():
    optimizer = torch.optim.AdamW(nn.Linear(2, 1).parameters(), 0.5)
    optimizer.param_groups[0]["lr"] = 0.125
    assert (setup_of(optimizer), lr_of(optimizer)) == (("AdamW", 0.5), 0.125)
    optimizer.param_groups[0]["lr"] = torch.tensor(0.125)
    assert lr_of(optimizer) is None


def test_parameters_in_another_order_got_each_others_state():
    assert misplaced(["b", "a"], saved(["a", "b"])) == ("b <- a", "a <- b")
    assert misplaced(["a", "b"], saved(["a", "b"])) == ()
    assert misplaced(["a", "c"], saved(["a", "b"])) == ()
