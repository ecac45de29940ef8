"""Predicts the next level of the canal behind a sluice, one of 24, with dilated convolutions."""

import torch
from torch import nn
from torch.nn.utils import weight_norm

LEVELS, WIDTH, SPAN = 24, 16, 40


class Block(nn.Module):
    """A residual layer that looks back `step` and twice `step` readings."""

    def __init__(self, step):
        super().__init__()
        self.extra = 2 * step
        self.conv = weight_norm(nn.Conv1d(WIDTH, WIDTH, 3, padding=self.extra, dilation=step))

    def forward(self, x):
        y = self.conv(x)
        y = y[..., self.extra :]
        return x + torch.relu(y)


class Canal(nn.Module):
    def __init__(self):
        super().__init__()
        self.levels = nn.Embedding(LEVELS, WIDTH)
        self.blocks = nn.Sequential(Block(1), Block(2))
        self.out = nn.Linear(WIDTH, LEVELS)

    def forward(self, readings):
        x = self.blocks(self.levels(readings).transpose(1, 2))
        return self.out(x.transpose(1, 2))


def readings(rows, length):
    """Levels that rise and fall with locks being filled, by chance."""
    moves = torch.randint(-2, 3, (rows, length)) * (torch.rand(rows, length) < 0.5)
    return (12 + moves.cumsum(1)) % LEVELS


def main():
    torch.manual_seed(4)
    log = readings(16, 600)
    model = Canal()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for epoch in range(4):
        total, steps = 0.0, 0
        for start in range(0, log.shape[1] - SPAN - 1, SPAN):
            seen = log[:, start : start + SPAN]
            coming = log[:, start + 1 : start + SPAN + 1]
            loss = nn.functional.cross_entropy(model(seen).reshape(-1, LEVELS), coming.reshape(-1))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total, steps = total + loss.item(), steps + 1
        print(f"epoch {epoch}: {total / steps:.3f}")


if __name__ == "__main__":
    main()
