"""Denoising diffusion on a spiral in the plane: noise prediction, then a short sampler."""

import copy
import math

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

LEVELS, WIDTH, BATCH, EPOCHS = 50, 64, 64, 10


class Spiral(Dataset):
    def __init__(self, count=2560):
        g = torch.Generator().manual_seed(6)
        turn = 1.5 * math.pi * (1 + 2 * torch.rand(count, generator=g))
        points = torch.stack([turn * turn.cos(), turn * turn.sin()], 1) + 0.3 * torch.randn(count, 2, generator=g)
        self.points = points / points.std()

    def __len__(self):
        return len(self.points)

    def __getitem__(self, i):
        return self.points[i]


class Schedule:
    def __init__(self):
        beta = torch.linspace(1e-3, 0.12, LEVELS)
        self.beta, self.kept = beta, (1 - beta).cumprod(0)

    def noisy(self, x, level, noise):
        kept = self.kept[level][:, None]
        return kept.sqrt() * x + (1 - kept).sqrt() * noise

    def weight(self, level):
        snr = self.kept[level] / (1 - self.kept[level])
        return torch.clamp(snr, max=5.0) / snr


class Swish(nn.Module):
    def forward(self, x):
        return x * torch.sigmoid(x)


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.frequency = 2.0 ** torch.arange(6)
        self.enter = nn.Linear(2 + 12, WIDTH)
        self.blocks = nn.ModuleList([nn.Sequential(nn.LayerNorm(WIDTH), nn.Linear(WIDTH, WIDTH), Swish(), nn.Linear(WIDTH, WIDTH)) for _ in range(3)])
        self.leave = nn.Linear(WIDTH, 2)

    def forward(self, x, level):
        angle = (level / LEVELS)[:, None] * self.frequency
        h = self.enter(torch.cat([x, angle.sin(), angle.cos()], 1))
        for block in self.blocks:
            h = h + block(h)
        return self.leave(h)


def loss_of(model, schedule, x, highest):
    level = torch.randint(0, highest, (len(x),))
    noise = torch.randn_like(x)
    predicted = model(schedule.noisy(x, level, noise), level)
    error = (predicted - noise).pow(2).mean(1)
    return (schedule.weight(level) * error).mean()


@torch.no_grad()
def average(target, source, decay=0.99):
    for old, new in zip(target.parameters(), source.parameters()):
        old.lerp_(new, 1 - decay)


@torch.no_grad()
def sample(model, schedule, count=400):
    model.eval()
    g = torch.Generator().manual_seed(12)
    x = torch.randn(count, 2, generator=g)
    for t in reversed(range(LEVELS)):
        level = torch.full((count,), t)
        noise = model(x, level)
        x = (x - schedule.beta[t] / (1 - schedule.kept[t]).sqrt() * noise) / (1 - schedule.beta[t]).sqrt()
        if t:
            x = x + schedule.beta[t].sqrt() * torch.randn(count, 2, generator=g)
    model.train()
    return x


def main():
    torch.manual_seed(0)
    data = Spiral()
    loader = DataLoader(data, BATCH, shuffle=True, drop_last=True, generator=torch.Generator().manual_seed(2))
    schedule, model = Schedule(), Denoiser()
    smooth = copy.deepcopy(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    step = 0
    for epoch in range(EPOCHS):
        total = 0.0
        for x in loader:
            highest = min(LEVELS, 20 + step // 8)
            loss = loss_of(model, schedule, x, highest)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 2.0)
            optimizer.step()
            average(smooth, model)
            total += loss.item()
            step += 1
        drawn = sample(smooth, schedule)
        far = torch.cdist(drawn, data.points[:1000]).min(1).values.mean().item()
        print(f"epoch {epoch} step {step} loss {total / len(loader):.4f} distance to data {far:.3f}")


if __name__ == "__main__":
    main()
