"""Families that nobody looked at while the thresholds of the spike detectors were chosen: healthy but nasty ones, and
faults outside the Transformer."""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from benchmarks.spike_runs import AT, Family, Row, adding, blobs, mlp, train


def reinforce(seed: int, steps: int) -> Iterator[Row]:
    """Policy gradient on a contextual bandit: a loss that changes its sign and means little."""
    torch.manual_seed(seed)
    policy, best = mlp(8, 64, 4), torch.randn(8, 4)

    def draw(step: int) -> Tensor:
        x = torch.randn(32, 8)
        choice = torch.distributions.Categorical(logits=policy(x))
        taken = choice.sample()
        reward = (x @ best).gather(1, taken[:, None])[:, 0] + torch.randn(32)
        return -(choice.log_prob(taken) * (reward - reward.mean())).mean() - 0.01 * choice.entropy().mean()

    yield from train(policy, draw, torch.optim.Adam(policy.parameters(), 3e-3), steps)


def interleaved_wgan(seed: int, steps: int) -> Iterator[Row]:
    """Five critic updates, then one of the generator, in one series, as a recorder of optimizer steps sees them."""
    torch.manual_seed(seed)
    generator, critic = mlp(8, 64, 2), mlp(2, 64, 1)
    first, second = torch.optim.RMSprop(critic.parameters(), 5e-4), torch.optim.RMSprop(generator.parameters(), 5e-4)

    def critic_loss(step: int) -> Tensor:
        real = torch.randn(64, 2) * 0.3 + 2.0
        with torch.no_grad():
            for p in critic.parameters():
                p.clamp_(-0.2, 0.2)
            fake = generator(torch.randn(64, 8))
        return critic(fake).mean() - critic(real).mean()

    a = train(critic, critic_loss, first, steps)
    b = train(generator, lambda step: -critic(generator(torch.randn(64, 8))).mean(), second, steps)
    for step in range(steps):
        yield next(b if step % 6 == 5 else a)


def denoiser(seed: int, steps: int) -> Iterator[Row]:
    """A diffusion model: the noise level of the batch decides the loss."""
    torch.manual_seed(seed)
    model = mlp(3, 64, 64, 2)

    def draw(step: int) -> Tensor:
        x, t = torch.randn(8, 2) * 0.5 + 1.0, torch.rand(8, 1)
        noise = torch.randn(8, 2)
        weight = 1.0 / (0.05 + t)
        return (weight * (model(torch.cat([(1 - t).sqrt() * x + t.sqrt() * noise, t], 1)) - noise).square()).mean()

    yield from train(model, draw, torch.optim.Adam(model.parameters(), 1e-3), steps, clip=1.0)


def vae(seed: int, steps: int) -> Iterator[Row]:
    """Reconstruction plus a KL term whose weight rises in cycles of 250 steps."""
    torch.manual_seed(seed)
    basis = torch.randn(4, 16)
    model = nn.ModuleList([mlp(16, 32, 8), mlp(4, 32, 16)])

    def draw(step: int) -> Tensor:
        x = torch.randn(32, 4) @ basis
        mean, spread = model[0](x).chunk(2, 1)
        kl = 0.5 * (mean.square() + spread.exp() - spread - 1).sum(1).mean()
        return (
            F.mse_loss(model[1](mean + torch.randn_like(mean) * (0.5 * spread).exp()), x)
            + min(1.0, (step % 250) / 125) * kl
        )

    yield from train(model, draw, torch.optim.Adam(model.parameters(), 2e-3), steps)


def mixture_of_experts(seed: int, steps: int) -> Iterator[Row]:
    """Top-1 routing: experts change hands."""
    torch.manual_seed(seed)
    batch = blobs(seed)
    model = nn.ModuleList([nn.Linear(20, 4), *(mlp(20, 32, 10) for _ in range(4))])

    def draw(step: int) -> Tensor:
        x, y = batch(32)
        gates = model[0](x).softmax(1)
        best, chosen = gates.max(1)
        out = torch.stack([model[1 + int(e)](row) for row, e in zip(x, chosen, strict=True)])
        return (
            F.cross_entropy(best[:, None] * out, y)
            + 0.01 * 4 * (gates.mean(0) * F.one_hot(chosen, 4).float().mean(0)).sum()
        )

    yield from train(model, draw, torch.optim.Adam(model.parameters(), 3e-3), steps)


def triplets(seed: int, steps: int) -> Iterator[Row]:
    """A hinge that is exactly 0 on most batches in the end."""
    torch.manual_seed(seed)
    batch, model = blobs(seed), mlp(20, 64, 16)

    def draw(step: int) -> Tensor:
        x, y = batch(24)
        z = F.normalize(model(x), dim=1)
        far = torch.cdist(z, z) + 1e-6
        same = y[:, None] == y[None]
        return F.relu((far * same).amax(1) - far.masked_fill(same, 9.0).amin(1) + 0.2).mean()

    yield from train(model, draw, torch.optim.Adam(model.parameters(), 1e-3), steps)


def two_tasks(seed: int, steps: int) -> Iterator[Row]:
    """A regression and a classification by turns through one trunk."""
    torch.manual_seed(seed)
    batch, model = blobs(seed), nn.ModuleList([mlp(20, 64, 64), nn.Linear(64, 10), nn.Linear(64, 1)])

    def draw(step: int) -> Tensor:
        x, y = batch(32)
        hidden = model[0](x).relu()
        return F.cross_entropy(model[1](hidden), y) if step % 2 else 20 * F.mse_loss(model[2](hidden)[:, 0], x[:, 0])

    yield from train(model, draw, torch.optim.Adam(model.parameters(), 1e-3), steps)


def curriculum(seed: int, steps: int) -> Iterator[Row]:
    """Sequences twice as long every 250 steps: the loss rises, as it was meant to."""
    torch.manual_seed(seed)
    model = nn.ModuleList([nn.GRU(2, 32, batch_first=True), nn.Linear(32, 1)])

    def draw(step: int) -> Tensor:
        x, y = adding(4 * 2 ** min(step // 250, 3))
        return F.mse_loss(model[1](model[0](x)[0][:, -1])[:, 0], y)

    yield from train(model, draw, torch.optim.Adam(model.parameters(), 3e-3), steps, clip=1.0)


def memorised(seed: int, steps: int) -> Iterator[Row]:
    """64 samples learnt by heart in batches of 4: the loss ends at 1e-5."""
    torch.manual_seed(seed)
    (x, y), model = blobs(seed)(64), mlp(20, 64, 64, 10)

    def draw(step: int) -> Tensor:
        rows = torch.randperm(64)[:4]
        return F.cross_entropy(model(x[rows]), y[rows])

    yield from train(model, draw, torch.optim.Adam(model.parameters(), 3e-3), steps)


def batch_norm(seed: int, steps: int) -> Iterator[Row]:
    """Batches of 4 under BatchNorm with dropout, one-cycle learning rate."""
    torch.manual_seed(seed)
    batch = blobs(seed)
    model = nn.Sequential(nn.Linear(20, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Dropout(0.2), nn.Linear(64, 10))

    def draw(step: int) -> Tensor:
        x, y = batch(4)
        return F.cross_entropy(model(x), y)

    yield from train(
        model,
        draw,
        torch.optim.SGD(model.parameters(), 0.1, momentum=0.9),
        steps,
        lr=lambda s: 0.1 * math.sin(math.pi * (s + 1) / (steps + 1)),
    )


def sparse_embeddings(seed: int, steps: int) -> Iterator[Row]:
    """Clicks over a Zipf catalogue, one in twenty positive."""
    torch.manual_seed(seed)
    model = nn.ModuleList([nn.Embedding(5000, 16), mlp(32, 32, 1)])
    taste, chance = torch.randn(5000), 1.0 / torch.arange(1, 5001)

    def draw(step: int) -> Tensor:
        ids = torch.multinomial(chance, 64, replacement=True).reshape(32, 2)
        y = torch.bernoulli(torch.sigmoid(taste[ids].sum(1) - 3.0))
        return F.binary_cross_entropy_with_logits(model[1](model[0](ids).flatten(1))[:, 0], y)

    yield from train(model, draw, torch.optim.Adam(model.parameters(), 2e-3), steps)


def frozen_backbone(seed: int, steps: int) -> Iterator[Row]:
    """A new head of zeros on frozen features, label smoothing 0.1, batches of 16 in a fixed order of 20 (the same hard
    batch each epoch)."""
    torch.manual_seed(seed)
    batch, trunk, head = blobs(seed), mlp(20, 64, 64), nn.Linear(64, 10)
    nn.init.zeros_(head.weight)
    batches = [batch(16) for _ in range(20)]
    batches[7] = (batches[7][0] * 3.0, batches[7][1].flip(0))

    def draw(step: int) -> Tensor:
        x, y = batches[step % 20]
        with torch.no_grad():
            hidden = trunk(x).relu()
        return F.cross_entropy(head(hidden), y, label_smoothing=0.1)

    yield from train(head, draw, torch.optim.SGD(head.parameters(), 0.05), steps)


HELD_OUT: dict[str, Family] = {
    "REINFORCE": reinforce,
    "WGAN, interleaved": interleaved_wgan,
    "diffusion": denoiser,
    "VAE, cyclic KL": vae,
    "mixture of experts": mixture_of_experts,
    "triplet hinge": triplets,
    "two tasks by turns": two_tasks,
    "curriculum": curriculum,
    "memorised": memorised,
    "BatchNorm of 4, one-cycle": batch_norm,
    "sparse embeddings": sparse_embeddings,
    "frozen backbone, hard batch": frozen_backbone,
}


def mlp_fault(fault: str, seed: int, steps: int) -> Iterator[Row]:
    """A classifier on batches of 32 under SGD with momentum: a sample out of scale, labels shuffled for good, gradients
    kept, or a tenfold learning rate."""
    torch.manual_seed(seed)
    batch, model = blobs(seed), mlp(20, 64, 64, 10)
    optimizer = torch.optim.SGD(model.parameters(), 0.05, momentum=0.9)
    if fault == "stale":
        clear = optimizer.zero_grad
        calls = iter(range(10**9))
        optimizer.zero_grad = lambda set_to_none=True: clear() if next(calls) < AT else None  # type: ignore[method-assign]

    def draw(step: int) -> Tensor:
        x, y = batch(32)
        if fault == "outlier" and step == AT:
            x[3], y[3] = x[3] * 300.0, (y[3] + 1) % 10
        if fault == "shuffled" and step >= AT:
            y = y.roll(1)
        return F.cross_entropy(model(x), y)

    yield from train(
        model, draw, optimizer, steps, lr=lambda step: 0.05 * (40.0 if fault == "lr40" and step >= AT else 1.0)
    )


HELD_OUT_FAULTS: dict[str, Family] = {
    name: (lambda seed, steps, name=name: mlp_fault(name, seed, steps))
    for name in ("outlier", "shuffled", "stale", "lr40")
}
