"""Two-branch price model trained with a normalised-gradient optimizer of our own."""

import torch
import torch.nn as nn
from torch.optim import Optimizer
from torch.utils.data import DataLoader, TensorDataset


class NormalisedSGD(Optimizer):
    def __init__(self, params, lr=1e-2, momentum=0.9):
        super().__init__(params, {"lr": lr, "momentum": momentum})

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                direction = p.grad / p.grad.norm()
                m = self.state[p].setdefault("m", torch.zeros_like(p))
                m.mul_(group["momentum"]).add_(direction, alpha=1 - group["momentum"])
                p.add_(m, alpha=-group["lr"])


class Prices(nn.Module):
    def __init__(self):
        super().__init__()
        self.base = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 1))
        self.luxury = nn.Linear(6, 1)

    def forward(self, x, is_luxury):
        return (self.base(x) + is_luxury * self.luxury(x)).squeeze(1)


torch.manual_seed(4)
x = torch.randn(400, 6)
is_luxury = (torch.rand(400, 1) > 0.8).float()
y = x.sum(1) + 3.0 * is_luxury[:, 0] * x[:, 0]
model = Prices()
optimizer = NormalisedSGD(model.parameters(), lr=0.01)
loader = DataLoader(TensorDataset(x, is_luxury, y), batch_size=10, shuffle=True, generator=torch.Generator().manual_seed(9))
for step, (xb, lb, yb) in enumerate(loader):
    loss = nn.functional.mse_loss(model(xb, lb), yb)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 5 == 0:
        print(f"step {step} mse {loss.item():.4f}")
