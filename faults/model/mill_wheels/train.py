"""Pictures of mill wheels as three numbers each: an encoder, a draw around its answer and a decoder."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(7)
WIDE = 64
turn = torch.rand(1600, 1) * 6.28
spokes = torch.randint(2, 5, (1600, 1)).float()
wheels = (torch.sin(spokes * torch.linspace(0, 6.28, WIDE) + turn) > 0).float()


class Wheels(nn.Module):
    def __init__(self, code=6):
        super().__init__()
        self.read = nn.Sequential(nn.Linear(WIDE, 96), nn.ReLU())
        self.mean, self.spread = nn.Linear(96, code), nn.Linear(96, code)
        self.draw = nn.Sequential(nn.Linear(code, 96), nn.ReLU(), nn.Linear(96, WIDE))

    def forward(self, x):
        h = self.read(x)
        mean, spread = self.mean(h), self.spread(h)
        z = mean + torch.randn_like(mean) * (0.5 * spread).exp()
        return self.draw(z), mean, spread


def elbo(drawn, x, mean, spread):
    picture = F.binary_cross_entropy_with_logits(drawn, x)
    prior = -0.5 * torch.sum(1 + spread - mean.pow(2) - spread.exp())
    return picture + prior


model = Wheels()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(20):
    for rows in torch.randperm(1600).split(64):
        x = wheels[rows]
        drawn, mean, spread = model(x)
        loss = elbo(drawn, x, mean, spread)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
with torch.no_grad():
    code = model.mean(model.read(wheels))
    print(f"error of the pictures {F.binary_cross_entropy_with_logits(model.draw(code), wheels).item():.4f}")
