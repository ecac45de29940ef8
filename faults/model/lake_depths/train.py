"""How deep a lake is below a boat, and how sure that is, from the echoes of a sounder."""

import torch
from torch import nn

torch.manual_seed(6)


def soundings(count):
    echoes = torch.randn(count, 8)
    depth = 2 * torch.tanh(echoes[:, 0]) + echoes[:, 1] * echoes[:, 2]
    reeds = torch.exp(1.2 * echoes[:, 3] - 1)
    return echoes, depth + reeds * torch.randn(count), depth


class Sounder(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(8, 64), nn.SiLU(), nn.Linear(64, 64), nn.SiLU())
        self.depth, self.doubt = nn.Linear(64, 1), nn.Linear(64, 1)

    def forward(self, echoes):
        hidden = self.body(echoes)
        return self.depth(hidden).squeeze(-1), self.doubt(hidden)


def surprise(depth, doubt, measured):
    error = (measured - depth) ** 2
    return 0.5 * (error * torch.exp(-doubt) + doubt).mean()


echoes, measured, _ = soundings(4000)
tests, tests_measured, true = soundings(2000)
sounder = Sounder()
optimizer = torch.optim.Adam(sounder.parameters(), lr=2e-3)
for epoch in range(6):
    for rows in torch.randperm(len(echoes)).split(50):
        loss = surprise(*sounder(echoes[rows]), measured[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        depth, doubt = sounder(tests)
        spread = torch.corrcoef(torch.stack([doubt.flatten(), tests[:, 3]]))[0, 1]
    print(f"epoch {epoch} loss {loss.item():.4f} error {(depth - true).square().mean():.3f} doubt {spread:.2f}")
