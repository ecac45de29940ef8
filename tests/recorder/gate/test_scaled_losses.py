"""Facts about scaled losses: each is known for the loss it stands for, and none is kept alive."""

from __future__ import annotations

import gc
import weakref

import torch
from torch import nn

from debugtracer.recorder.gate.scaled_losses import ScaledLosses


def a_scaled_loss(losses: ScaledLosses, scaler: torch.amp.GradScaler) -> tuple[torch.Tensor, torch.Tensor]:
    loss = nn.Linear(2, 1)(torch.ones(1, 2)).sum()
    output = scaler.scale(loss)
    losses.add(loss, output)
    return loss, output


def test_the_scaled_loss_stands_for_the_loss() -> None:
    losses = ScaledLosses()
    loss, scaled = a_scaled_loss(losses, torch.amp.GradScaler("cpu"))
    assert losses.unscaled(scaled) is loss
    assert losses.unscaled(loss) is loss


def test_a_loss_that_is_gone_is_not_kept_alive_and_its_id_stands_for_nothing() -> None:
    losses, scaler = ScaledLosses(), torch.amp.GradScaler("cpu")
    for _ in range(20):
        loss, scaled = a_scaled_loss(losses, scaler)
        alive = weakref.ref(loss), weakref.ref(scaled)
        del loss, scaled
        gc.collect()
        assert [one() for one in alive] == [None, None]
    assert len(losses.pairs) <= 1
    fresh = torch.ones(1)
    assert losses.unscaled(fresh) is fresh


def test_a_scaled_loss_that_outlives_its_loss_stands_for_itself() -> None:
    losses, scaler = ScaledLosses(), torch.amp.GradScaler("cpu")
    loss, scaled = a_scaled_loss(losses, scaler)
    del loss
    scaled = scaled.detach_()  # the graph of the multiplication holds the loss
    gc.collect()
    assert losses.unscaled(scaled) is scaled


def test_what_is_no_tensor_is_passed_over() -> None:
    losses = ScaledLosses()
    pair = [torch.ones(1), torch.ones(1)]
    losses.add(pair, torch.amp.GradScaler("cpu").scale(pair))
    assert losses.pairs == {}
