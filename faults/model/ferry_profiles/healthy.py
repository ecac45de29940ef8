"""Daily passenger counts of ferries, a row per day with a value per quarter of an hour, drawn from a short code."""

import torch
import torch.nn.functional as F
from torch import nn

QUARTERS, CODE = 96, 4


def days(count, generator):
    clock = torch.linspace(0, 24, QUARTERS)
    morning = 6 + 4 * torch.rand(count, 1, generator=generator)
    evening = 15 + 5 * torch.rand(count, 1, generator=generator)
    load = 0.5 + 2 * torch.rand(count, 2, generator=generator)
    curve = load[:, :1] * torch.exp(-((clock - morning) ** 2) / 3) + load[:, 1:] * torch.exp(-((clock - evening) ** 2) / 5)
    return curve + 0.03 * torch.randn(count, QUARTERS, generator=generator)


class Ferries(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(QUARTERS, 80), nn.SiLU())
        self.centre, self.width = nn.Linear(80, CODE), nn.Linear(80, CODE)
        self.decoder = nn.Sequential(nn.Linear(CODE, 80), nn.SiLU(), nn.Linear(80, QUARTERS))

    def forward(self, day):
        hidden = self.trunk(day)
        code = torch.distributions.Normal(self.centre(hidden), F.softplus(self.width(hidden)) + 1e-3)
        return self.decoder(code.rsample()), code


def objective(drawn, day, code):
    prior = torch.distributions.Normal(torch.zeros_like(code.loc), torch.ones_like(code.scale))
    divergence = torch.distributions.kl_divergence(code, prior).sum(dim=-1)
    error = F.smooth_l1_loss(drawn, day, reduction="sum") / len(day)
    return error + divergence.mean()


torch.manual_seed(11)
source = torch.Generator().manual_seed(5)
train, held_out = days(2000, source), days(400, source)
model = Ferries()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(18):
    for rows in torch.randperm(len(train)).split(50):
        drawn, code = model(train[rows])
        loss = objective(drawn, train[rows], code)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        drawn, _ = model(held_out)
        unexplained = F.mse_loss(drawn, held_out) / held_out.var(0).mean()
    print(f"epoch {epoch} loss {loss.item():.4f} unexplained {unexplained.item():.3f}")
