"""A small vision transformer on patches of drawn figures, trained in two sessions: the second goes on from the file of the first."""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

SIDE, PATCH = 16, 4
WIDTH = 32
BATCH = 24
STEPS = 360
RATE = 2e-3
FILE = "session.pt"


def figure(kind, g):
    axis = torch.linspace(-1, 1, SIDE)
    y, x = torch.meshgrid(axis, axis, indexing="ij")
    dx, dy = (torch.rand(2, generator=g) - 0.5) * 0.8
    size = 0.3 + 0.3 * torch.rand((), generator=g)
    x, y = x - dx, y - dy
    shapes = [x.abs().maximum(y.abs()), (x**2 + y**2).sqrt(), x.abs() + y.abs(), x.abs().minimum(y.abs()) * 3]
    return (shapes[kind] < size).float() + 0.25 * torch.randn(SIDE, SIDE, generator=g)


class Figures(Dataset):
    def __init__(self, count, seed):
        g = torch.Generator().manual_seed(seed)
        self.kinds = torch.randint(0, 4, (count,), generator=g)
        self.pictures = torch.stack([figure(int(k), g) for k in self.kinds])

    def __len__(self):
        return len(self.kinds)

    def __getitem__(self, i):
        picture = (self.pictures[i] - 0.25) / 0.5
        return picture, self.kinds[i]


class Patches(nn.Module):
    def __init__(self):
        super().__init__()
        self.project = nn.Linear(PATCH * PATCH, WIDTH)
        self.place = nn.Parameter(0.02 * torch.randn((SIDE // PATCH) ** 2 + 1, WIDTH))
        self.summary = nn.Parameter(0.02 * torch.randn(1, 1, WIDTH))

    def forward(self, pictures):
        parts = pictures.unfold(1, PATCH, PATCH).unfold(2, PATCH, PATCH).reshape(len(pictures), -1, PATCH * PATCH)
        tokens = torch.cat([self.summary.expand(len(pictures), -1, -1), self.project(parts)], 1)
        return tokens + self.place


class Layer(nn.Module):
    def __init__(self, drop):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.attention = nn.MultiheadAttention(WIDTH, 4, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 2 * WIDTH), nn.GELU(), nn.Linear(2 * WIDTH, WIDTH))
        self.drop = drop

    def path(self, branch):
        if not self.training:
            return branch
        kept = torch.rand(len(branch), 1, 1) >= self.drop
        return branch * kept / (1 - self.drop)

    def forward(self, x):
        h = self.norm1(x)
        x = x + self.path(self.attention(h, h, h, need_weights=False)[0])
        return x + self.path(self.mlp(self.norm2(x)))


class Viewer(nn.Module):
    def __init__(self, depth=2):
        super().__init__()
        self.patches = Patches()
        self.layers = nn.ModuleList(Layer(0.02) for _ in range(depth))
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, 4)

    def forward(self, pictures):
        x = self.patches(pictures)
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x)[:, 0])


def build():
    model = Viewer()
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=0.02)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: min(1.0, (s + 1) / 20) * (0.1 + 0.9 * math.cos(math.pi * s / STEPS / 2)))
    return model, optimizer, schedule


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    hits = sum((model(picture).argmax(1) == kind).sum().item() for picture, kind in loader)
    model.train()
    return hits / len(loader.dataset)


def session(model, optimizer, schedule, loader, first, last):
    batches = iter(loader)
    for step in range(first, last):
        picture, kind = next(batches)
        loss = F.cross_entropy(model(picture), kind, label_smoothing=0.1)
        optimizer.zero_grad()
        loss.backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), 2.0)
        optimizer.step()
        schedule.step()
        if step % 20 == 0:
            print(f"step {step} loss {loss.item():.4f} gradient {norm:.3f}")


def main():
    torch.manual_seed(14)
    figures, held_out = Figures(4320, seed=1), Figures(480, seed=2)
    loader = DataLoader(figures, batch_size=BATCH, shuffle=True, generator=torch.Generator().manual_seed(6))
    test_loader = DataLoader(held_out, batch_size=120)
    model, optimizer, schedule = build()
    session(model, optimizer, schedule, loader, 0, STEPS // 2)
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "schedule": schedule.state_dict()}, FILE)
    print(f"first session {evaluate(model, test_loader):.3f}")

    model, optimizer, schedule = build()
    saved = torch.load(FILE)
    model.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
    schedule.load_state_dict(saved["schedule"])
    session(model, optimizer, schedule, loader, STEPS // 2, STEPS)
    print(f"second session {evaluate(model, test_loader):.3f}")


if __name__ == "__main__":
    main()
