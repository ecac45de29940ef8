"""The worth of a harbour's states for a policy, from stored returns; the loss is clipped as in PPO."""

import torch
from torch import nn

torch.manual_seed(8)
states = torch.randn(1024, 8)
returns = states[:, :3].sum(1) + states[:, 3] * states[:, 4] + 0.1 * torch.randn(1024)
values = torch.zeros(1024)


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(8, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh())
        self.value = nn.Linear(64, 1)

    def forward(self, state):
        return self.value(self.body(state))


critic = Critic()
optimizer = torch.optim.Adam(critic.parameters(), lr=3e-3)
for epoch in range(6):
    for rows in torch.randperm(1024).split(64):
        new = critic(states[rows])
        unclipped = (new - returns[rows]) ** 2
        clipped = values[rows] + torch.clamp(new - values[rows], -0.5, 0.5)
        loss = 0.5 * torch.max(unclipped, (clipped - returns[rows]) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        values = critic(states).view(-1)
    print(f"epoch {epoch} error {(values - returns).square().mean():.4f}")
