"""Counts of a meter with a recurrent network; one night the line was down and the counter ran over."""

import torch
from torch import nn

torch.manual_seed(5)
series = torch.rand(640, 24, 1)
total = series.cumsum(1)
series[371, 5:] = 4000.0


class Meter(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(12, 12, bias=False)
        self.outer = nn.Linear(1, 12)
        self.head = nn.Linear(12, 1)

    def forward(self, x):
        h = torch.zeros(len(x), 12)
        out = []
        for t in range(x.shape[1]):
            h = self.inner(h) * (0.3 + x[:, t]) + self.outer(x[:, t])
            out.append(self.head(h))
        return torch.stack(out, 1)


model = Meter()
with torch.no_grad():
    model.inner.weight.copy_(0.6 * torch.eye(12))
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for step in range(240):
    rows = torch.arange(16) + step % 40 * 16
    loss = nn.functional.mse_loss(model(series[rows]), total[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        print(f"step {step} loss {loss.item():.4f}")
