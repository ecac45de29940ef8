"""Signed square-root regression of income changes."""

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


class Income(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(6, 24)
        self.out = nn.Linear(24, 1)

    def compress(self, z):
        return torch.where(z > 0, torch.sqrt(z.clamp_min(0.0)), torch.zeros_like(z))

    def forward(self, x, active):
        z = nn.functional.softplus(self.out(torch.relu(self.hidden(x)))) * active
        return self.compress(z).squeeze(1)


torch.manual_seed(25)
x = torch.randn(140, 6)
active = torch.ones(140, 1)
active[118] = 0.0
income = x[:, 0].abs() * active[:, 0]
model = Income()
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
loader = DataLoader(
    TensorDataset(x, active, income), batch_size=10, shuffle=True, generator=torch.Generator().manual_seed(25)
)
for step, (xb, ab, yb) in enumerate(loader):
    loss = nn.functional.l1_loss(model(xb, ab), yb)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"step {step} loss {loss.item():.4f}")
