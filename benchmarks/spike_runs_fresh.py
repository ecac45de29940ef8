"""Families and faults recorded after the rules had been changed for the first held-out set: looked at once, for the
figures that are published."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator

import torch
import torch.nn.functional as F
from torch import Tensor

from benchmarks.spike_runs import AT, Family, Gru, Row, adding, blobs, mlp, train


def q_learning(seed: int, steps: int) -> Iterator[Row]:
    """Temporal differences with a target network that follows every 100 steps: the loss grows with the values."""
    torch.manual_seed(seed)
    model = mlp(6, 64, 4)
    other, rewards = copy.deepcopy(model), torch.randn(6, 4)

    def draw(step: int) -> Tensor:
        if step % 100 == 0:
            other.load_state_dict(model.state_dict())
        state, action = torch.randn(32, 6), torch.randint(0, 4, (32, 1))
        with torch.no_grad():
            target = (state @ rewards).gather(1, action) + 0.95 * other(torch.randn(32, 6)).amax(1, keepdim=True)
        return F.smooth_l1_loss(model(state).gather(1, action), target)

    yield from train(model, draw, torch.optim.Adam(model.parameters(), 2e-3), steps)


def info_nce(seed: int, steps: int) -> Iterator[Row]:
    """Two views of a sample must find each other in the batch."""
    torch.manual_seed(seed)
    model = mlp(16, 64, 16)

    def draw(step: int) -> Tensor:
        x = torch.randn(32, 16)
        a, b = (F.normalize(model(x + 0.3 * torch.randn(32, 16)), dim=1) for _ in range(2))
        return F.cross_entropy(a @ b.T / 0.1, torch.arange(32))

    yield from train(model, draw, torch.optim.AdamW(model.parameters(), 2e-3), steps)


def counts(seed: int, steps: int) -> Iterator[Row]:
    """Poisson regression: rare large counts, a loss below 0."""
    torch.manual_seed(seed)
    model, slope = mlp(8, 32, 1), 0.4 * torch.randn(8)

    def draw(step: int) -> Tensor:
        x = torch.randn(24, 8)
        return F.poisson_nll_loss(model(x)[:, 0], torch.poisson((x @ slope + 1.0).exp()))

    yield from train(model, draw, torch.optim.Adam(model.parameters(), 2e-3), steps)


def rare_positives(seed: int, steps: int) -> Iterator[Row]:
    """One positive in a hundred, batches of 32: most have none."""
    torch.manual_seed(seed)
    model = mlp(10, 32, 1)

    def draw(step: int) -> Tensor:
        x = torch.randn(32, 10)
        y = torch.bernoulli(torch.sigmoid(2.0 * x[:, 0] - 6.0))
        return F.binary_cross_entropy_with_logits(model(x)[:, 0], y)

    yield from train(model, draw, torch.optim.Adam(model.parameters(), 2e-3), steps)


def triangular_lr(seed: int, steps: int) -> Iterator[Row]:
    """A learning rate that rises tenfold and falls again every 200 steps, SGD with momentum."""
    torch.manual_seed(seed)
    batch, model = blobs(seed), mlp(20, 64, 64, 10)

    def draw(step: int) -> Tensor:
        x, y = batch(32)
        return F.cross_entropy(model(x), y)

    optimizer = torch.optim.SGD(model.parameters(), 0.01, momentum=0.9)
    yield from train(model, draw, optimizer, steps, lr=lambda step: 0.01 * (1 + 9 * (1 - abs(step % 200 - 100) / 100)))


def last_microbatch(seed: int, steps: int) -> Iterator[Row]:
    """Accumulation over 4 microbatches of 2; the loss seen is that of the last."""
    torch.manual_seed(seed)
    batch, model = blobs(seed), mlp(20, 64, 10)

    def draw(step: int) -> Tensor:
        for _ in range(3):
            x, y = batch(2)
            (F.cross_entropy(model(x), y) / 4).backward()
        x, y = batch(2)
        return F.cross_entropy(model(x), y) / 4

    optimizer = torch.optim.Adam(model.parameters(), 1e-3)
    clear, optimizer.zero_grad = optimizer.zero_grad, lambda set_to_none=True: None  # type: ignore[method-assign]
    for row in train(model, draw, optimizer, steps):
        clear()
        yield row


def two_domains(seed: int, steps: int) -> Iterator[Row]:
    """Each batch from one of two loaders by chance: easy three times in four, hard else."""
    torch.manual_seed(seed)
    easy, hard, model = blobs(seed), blobs(seed + 9, classes=10), mlp(20, 64, 64, 10)

    def draw(step: int) -> Tensor:
        x, y = (easy if torch.rand(()) < 0.75 else hard)(16)
        return F.cross_entropy(model(x), (y + 3) % 10) if torch.rand(()) < 0.1 else F.cross_entropy(model(x), y)

    yield from train(model, draw, torch.optim.AdamW(model.parameters(), 1e-3), steps)


def density(seed: int, steps: int) -> Iterator[Row]:
    """The negative log likelihood of a mixture density network: it crosses 0 and goes on down."""
    torch.manual_seed(seed)
    model = mlp(4, 64, 2)

    def draw(step: int) -> Tensor:
        x = torch.randn(32, 4)
        mean, spread = model(x).chunk(2, 1)
        return (0.5 * ((x[:, :1].sin() + 0.05 * torch.randn(32, 1) - mean) / spread.exp()).square() + spread).mean()

    yield from train(model, draw, torch.optim.Adam(model.parameters(), 2e-3), steps, clip=5.0)


FRESH: dict[str, Family] = {
    "Q-learning": q_learning,
    "InfoNCE": info_nce,
    "Poisson counts": counts,
    "rare positives": rare_positives,
    "triangular lr": triangular_lr,
    "last microbatch of 2": last_microbatch,
    "two domains": two_domains,
    "density, below 0": density,
}


def shifted_inputs(seed: int, steps: int) -> Iterator[Row]:
    """The normalisation of an autoencoder's inputs is lost at step AT for good."""
    torch.manual_seed(seed)
    basis, model = torch.randn(6, 32), mlp(32, 64, 8, 64, 32)

    def draw(step: int) -> Tensor:
        x = torch.randn(32, 6) @ basis + (4.0 if step >= AT else 0.0)
        return F.mse_loss(model(x), x)

    yield from train(model, draw, torch.optim.Adam(model.parameters(), 1e-3), steps)


def unit_slip(seed: int, steps: int) -> Iterator[Row]:
    """Three batches with one column in grams instead of kilograms."""
    torch.manual_seed(seed)
    model = mlp(10, 64, 64, 1)

    def draw(step: int) -> Tensor:
        x = torch.randn(32, 10)
        y = x[:, :3].sum(1) + 0.3 * torch.randn(32)
        if AT <= step < AT + 3:
            x[:, 1] *= 30.0
        return F.mse_loss(model(x)[:, 0], y)

    yield from train(model, draw, torch.optim.Adam(model.parameters(), 1e-3), steps, clip=1.0)


def gru_lr(seed: int, steps: int) -> Iterator[Row]:
    """A GRU whose learning rate is multiplied by 20 at step AT, no clipping."""
    torch.manual_seed(seed)
    model = Gru()

    def draw(step: int) -> Tensor:
        x, y = adding(16)
        return F.mse_loss(model(x), y)

    yield from train(
        model,
        draw,
        torch.optim.Adam(model.parameters(), 3e-3),
        steps,
        lr=lambda step: 3e-3 * (20.0 if step >= AT else 1.0),
    )


def momentum_slip(seed: int, steps: int) -> Iterator[Row]:
    """The momentum of SGD becomes 0.9995 at step AT: updates pile up."""
    torch.manual_seed(seed)
    batch, model = blobs(seed), mlp(20, 64, 64, 10)
    optimizer = torch.optim.SGD(model.parameters(), 0.05, momentum=0.9)

    def draw(step: int) -> Tensor:
        if step == AT:
            optimizer.param_groups[0]["momentum"] = 0.9995
        x, y = batch(32)
        return F.cross_entropy(model(x), y)

    yield from train(model, draw, optimizer, steps, clip=math.inf)


FRESH_FAULTS: dict[str, Family] = {
    "shifted inputs": shifted_inputs,
    "unit slip": unit_slip,
    "GRU lr x 20": gru_lr,
    "momentum slip": momentum_slip,
}
