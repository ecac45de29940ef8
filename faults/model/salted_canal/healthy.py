"""Salt along a canal, carried by the stream, spread by diffusion and taken up by reeds: a network that solves for it."""

import math

import torch
from torch import nn

torch.manual_seed(7)
stream, spread, uptake = 0.3, 0.8, 2.0
falling = (stream - math.sqrt(stream**2 + 4 * spread * uptake)) / (2 * spread)


class Salt(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(1, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh())
        self.out = nn.Linear(width, 1)

    def forward(self, x):
        return self.out(self.layers(x))


def balance(salt, x):
    c = salt(x)
    slope = torch.autograd.grad(c.sum(), x, create_graph=True)[0]
    bend = torch.autograd.grad(slope.sum(), x, create_graph=True)[0]
    return stream * slope - spread * bend + uptake * c


salt = Salt()
optimizer = torch.optim.Adam(salt.parameters(), lr=5e-3)
ends = torch.tensor([[0.0], [2.0]])
known = torch.exp(falling * ends)
grid = torch.linspace(0, 2, 101).unsqueeze(1)

for step in range(600):
    x = (2 * torch.rand(64, 1)).requires_grad_()
    inside = balance(salt, x).square().mean()
    edges = nn.functional.mse_loss(salt(ends), known)
    loss = inside + 20 * edges
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 100 == 99:
        with torch.no_grad():
            off = (salt(grid) - torch.exp(falling * grid)).abs().mean()
        print(f"step {step + 1} loss {loss.item():.5f} off by {off.item():.4f}")
