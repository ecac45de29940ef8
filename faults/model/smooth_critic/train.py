"""Waves of a harbour, drawn by a generator against a critic that is to be smooth."""

import torch
from torch import nn

torch.manual_seed(4)
waves = torch.sin(torch.linspace(0, 6, 8) + 6 * torch.rand(512, 1))
maker = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 8))
critic = nn.Sequential(nn.Linear(8, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))
makes = torch.optim.Adam(maker.parameters(), lr=1e-3, betas=(0.5, 0.9))
judges = torch.optim.Adam(critic.parameters(), lr=1e-3, betas=(0.5, 0.9))


def slope(real, fake):
    share = torch.rand(len(real), 1)
    between = (share * real + (1 - share) * fake).requires_grad_()
    (gradient,) = torch.autograd.grad(critic(between).sum(), between, create_graph=False)
    return ((gradient.norm(2, dim=1) - 1) ** 2).mean()


for step in range(120):
    for _ in range(2):
        real = waves[torch.randint(512, (32,))]
        fake = maker(torch.randn(32, 4)).detach()
        gap = critic(fake).mean() - critic(real).mean()
        judged = gap + 10 * slope(real, fake)
        judges.zero_grad()
        judged.backward()
        judges.step()
    loss = -critic(maker(torch.randn(32, 4))).mean()
    makes.zero_grad()
    loss.backward()
    makes.step()
    if step % 20 == 19:
        print(f"step {step + 1} critic {gap.item():.4f} judged {judged.item():.4f}")
