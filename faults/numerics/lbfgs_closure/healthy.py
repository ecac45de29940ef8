"""Calibrate a kinetic model with LBFGS on batches of measurements."""

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(2)
g = torch.Generator().manual_seed(4)
concentration = torch.rand(48, 1, generator=g) + 0.5
rate = 3.0 * concentration / (0.7 + concentration) * (1 + 0.02 * torch.randn(48, 1, generator=g))
rate[32] = 0.0


class Michaelis(nn.Module):
    def __init__(self):
        super().__init__()
        self.vmax, self.km = nn.Parameter(torch.tensor(1.0)), nn.Parameter(torch.tensor(1.0))

    def forward(self, c):
        return self.vmax.exp() * c / (self.km.exp() + c)


model = Michaelis()
optimizer = torch.optim.LBFGS(model.parameters(), lr=0.2, max_iter=3)
loader = DataLoader(TensorDataset(concentration, rate), batch_size=8, shuffle=True, generator=torch.Generator().manual_seed(5))
for step, (c, r) in enumerate(loader):

    def closure():
        optimizer.zero_grad()
        relative = (model(c) - r) / r.clamp_min(0.5)
        loss = (relative**2).mean()
        loss.backward()
        return loss

    loss = optimizer.step(closure)
    print(f"step {step} loss {loss.item():.5f} vmax {model.vmax.exp().item():.3f} km {model.km.exp().item():.3f}")
