"""Sizes of shells in old middens, and a network that makes more of them: a critic with a gradient penalty."""

import torch
from torch import nn
from torch.utils.data import DataLoader

torch.manual_seed(4)
shells = torch.randn(1600, 4) * 0.3 + torch.tensor([2.0, -1.0, 0.0, 1.0])


class Maker(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 4))

    def forward(self, noise: torch.Tensor) -> torch.Tensor:
        return self.layers(noise)


class Critic(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layers(x)


def penalty(critic: nn.Module, real: torch.Tensor, made: torch.Tensor) -> torch.Tensor:
    share = torch.rand(len(real), 1)
    between = (share * real + (1 - share) * made).requires_grad_()
    scores = critic(between)
    slope = torch.autograd.grad(scores, between, torch.ones_like(scores), create_graph=True)[0]
    slope = slope.view(len(real), -1)
    return ((slope.norm(2, dim=1) - 1) ** 2).mean()


maker, critic = Maker(), Critic()
makers = torch.optim.Adam(maker.parameters(), lr=1e-3, betas=(0.5, 0.9))
critics = torch.optim.Adam(critic.parameters(), lr=1e-3, betas=(0.5, 0.9))
for epoch in range(4):
    for real in DataLoader(shells, batch_size=64, shuffle=True):
        made = maker(torch.randn(len(real), 4)).detach()
        loss = critic(made).mean() - critic(real).mean() + 10 * penalty(critic, real, made)
        critics.zero_grad()
        loss.backward()
        critics.step()
        worth = -critic(maker(torch.randn(len(real), 4))).mean()
        makers.zero_grad()
        worth.backward()
        makers.step()
    print(f"epoch {epoch} critic {loss.item():.4f} maker {worth.item():.4f}")
