"""Spectra of pottery glazes: a generator of new ones and a critic of how true they look."""

import torch
from torch import nn

torch.manual_seed(3)
g = torch.Generator().manual_seed(11)
centre = 0.2 + 0.6 * torch.rand(2048, 1, generator=g)
glazes = torch.exp(-((torch.linspace(0, 1, 20) - centre) ** 2) / 0.02) + 0.02 * torch.randn(2048, 20, generator=g)


class Workshop:
    """Both networks and how each is trained."""

    def __init__(self):
        self.potter = nn.Sequential(nn.Linear(6, 64), nn.ReLU(), nn.Linear(64, 20), nn.Sigmoid())
        self.critic = nn.Sequential(nn.Linear(20, 64), nn.LeakyReLU(0.2), nn.Linear(64, 1))
        self.potter_optimizer = torch.optim.Adam(self.potter.parameters(), lr=2e-3, betas=(0.5, 0.9))
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters(), lr=2e-3, betas=(0.5, 0.9))

    def sample(self, n):
        return self.potter(torch.randn(n, 6, generator=g))

    def critic_step(self, real):
        made = self.sample(len(real)).detach()
        loss = nn.functional.relu(1 - self.critic(real)).mean() + nn.functional.relu(1 + self.critic(made)).mean()
        self.critic_optimizer.zero_grad()
        loss.backward()
        self.critic_optimizer.step()
        return loss.item()

    def potter_step(self, n):
        loss = -self.critic(self.sample(n)).mean()
        self.potter_optimizer.zero_grad()
        loss.backward()
        self.potter_optimizer.step()
        return loss.item()


shop = Workshop()
for epoch in range(12):
    for rows in torch.randperm(2048, generator=g).split(64):
        critic_loss = shop.critic_step(glazes[rows])
        potter_loss = shop.potter_step(64)
    with torch.no_grad():
        distance = torch.cdist(shop.sample(256), glazes).min(1).values.mean()
    print(f"epoch {epoch} critic {critic_loss:.4f} potter {potter_loss:.4f} distance to the nearest {distance:.4f}")
