"""Which colour comes next in a woven band: a small transformer with time first, which shifts the band itself."""

import math

import torch
from torch import nn

torch.manual_seed(6)
COLOURS, LENGTH = 12, 24


def bands(count):
    band = [torch.randint(0, COLOURS, (count,)), torch.randint(0, COLOURS, (count,))]
    for _ in range(LENGTH - 2):
        slip = torch.rand(count) < 0.2
        following = (band[-1] + 2 * band[-2] + 1) % COLOURS
        band.append(torch.where(slip, torch.randint(0, COLOURS, (count,)), following))
    return torch.stack(band)


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.before, self.attends = nn.LayerNorm(width), nn.MultiheadAttention(width, heads)
        self.turns = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

    def forward(self, x):
        hidden = torch.full((len(x), len(x)), -math.inf)
        hidden = torch.triu(hidden, diagonal=2)
        y = self.before(x)
        y, _ = self.attends(y, y, y, attn_mask=hidden, need_weights=False)
        x = x + y
        return x + self.turns(x)


class Weaver(nn.Module):
    def __init__(self, width=32, layers=2):
        super().__init__()
        self.start, self.places = nn.Parameter(torch.randn(width)), nn.Parameter(0.1 * torch.randn(LENGTH, 1, width))
        self.colours, self.head = nn.Embedding(COLOURS, width), nn.Linear(width, COLOURS)
        self.blocks = nn.Sequential(*(Block(width, 4) for _ in range(layers)))

    def forward(self, band):
        x = self.colours(band)
        x = torch.cat([self.start.expand(1, band.shape[1], -1), x[:-1]]) + self.places
        return self.head(self.blocks(x))


model = Weaver()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for step in range(200):
    band = bands(32)
    loss = nn.functional.cross_entropy(model(band).flatten(0, 1), band.flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 50 == 49:
        print(f"step {step + 1} loss {loss.item():.4f}")
