"""Harbour lights: each of sixteen lamps is told from those before it."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Masked(nn.Linear):
    def __init__(self, before, after, mask):
        super().__init__(before, after)
        self.register_buffer("mask", mask)

    def forward(self, x):
        return F.linear(x, self.mask * self.weight, self.bias)


class Made(nn.Module):
    def __init__(self, lamps=16, wide=64):
        super().__init__()
        order = torch.arange(1, lamps + 1)
        hidden = torch.arange(wide) % (lamps - 1) + 1
        self.first = Masked(lamps, wide, (order[None, :] <= hidden[:, None]).float())
        self.second = Masked(wide, wide, (hidden[None, :] <= hidden[:, None]).float())
        self.last = Masked(wide, lamps, (hidden[None, :] <= order[:, None]).float())

    def forward(self, x):
        return self.last(F.relu(self.second(F.relu(self.first(x)))))


torch.manual_seed(5)
state = torch.rand(1024, 4) < 0.5
mix = (torch.rand(4, 16) < 0.5).float()
lamps = ((state.float() @ mix + 0.5 * torch.rand(1024, 16)) % 2 > 1).float()
model = Made()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(5):
    for (x,) in DataLoader(TensorDataset(lamps), batch_size=32, shuffle=True):
        loss = F.binary_cross_entropy_with_logits(model(x), x, reduction="none").sum(1).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
