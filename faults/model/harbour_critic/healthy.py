"""Berths of a harbour, drawn by a generator against a critic with clipped weights."""

import torch
from torch import nn

torch.manual_seed(3)
berths = torch.randn(512, 6) @ torch.randn(6, 6) + 2.0
maker = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 6))
critic = nn.Sequential(nn.Linear(6, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))
makes = torch.optim.RMSprop(maker.parameters(), lr=1e-3)
judges = torch.optim.RMSprop(critic.parameters(), lr=1e-3)

for step in range(120):
    for _ in range(2):
        real = berths[torch.randint(512, (32,))]
        fake = maker(torch.randn(32, 4)).detach()
        gap = critic(fake).mean() - critic(real).mean()
        judges.zero_grad()
        gap.backward()
        judges.step()
        for weight in critic.parameters():
            weight.data.clamp_(-0.05, 0.05)
    loss = -critic(maker(torch.randn(32, 4))).mean()
    makes.zero_grad()
    loss.backward()
    makes.step()
    if step % 20 == 19:
        print(f"step {step + 1} critic {gap.item():.4f} maker {loss.item():.4f}")
