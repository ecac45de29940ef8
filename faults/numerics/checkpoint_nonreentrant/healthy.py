"""Residual stack on sensor windows with activation checkpointing."""

import torch
import torch.nn as nn
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DataLoader, TensorDataset


class RMSNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(width))

    def forward(self, x):
        scale = (x.pow(2).mean(-1, keepdim=True) + 1e-6).sqrt()
        return self.gain * x / scale


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = RMSNorm(width)
        self.ff = nn.Sequential(nn.Linear(width, 2 * width, bias=False), nn.ReLU(), nn.Dropout(0.1), nn.Linear(2 * width, width, bias=False))

    def forward(self, x):
        return x + self.ff(self.norm(x))


class Stack(nn.Module):
    def __init__(self, width=20):
        super().__init__()
        self.inp = nn.Linear(16, width, bias=False)
        self.blocks = nn.ModuleList([Block(width) for _ in range(3)])
        self.out = nn.Linear(width, 1)

    def forward(self, x):
        x = self.inp(x)
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False)
        return self.out(x).squeeze(1)


torch.manual_seed(6)
windows = torch.randn(160, 16)
target = windows[:, :4].sum(1)
windows[40] = 0.0
model = Stack()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
loader = DataLoader(TensorDataset(windows, target), batch_size=10, shuffle=True, generator=torch.Generator().manual_seed(8))
for step, (x, y) in enumerate(loader):
    loss = nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"step {step} loss {loss.item():.4f}")
