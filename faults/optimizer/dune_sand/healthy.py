"""Grain size of dune sand from nine sieves, with the settings of a command line."""

import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--width", type=int, default=48)
parser.add_argument("--lr", type=float, default=0.003)
parser.add_argument("--steps", type=int, default=200)
args = parser.parse_args([])
torch.manual_seed(4)
x = torch.randn(900, 9)
y = torch.tanh(x[:, :1] - x[:, 1:2]) + 0.05 * torch.randn(900, 1)
model = nn.Sequential(nn.Linear(9, args.width), nn.Tanh(), nn.Linear(args.width, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
for step in range(args.steps):
    rows = torch.randint(0, 900, (32,))
    loss = nn.functional.mse_loss(model(x[rows]), y[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 40 == 0:
        print(f"step {step} loss {loss.item():.4f}")
