"""Where an otter dives: a policy over five pools, with a value and a bonus for trying others."""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(2)
river = torch.randn(4, 5)


class Otter(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 64), nn.Tanh())
        self.pool, self.value = nn.Linear(64, 5), nn.Linear(64, 1)

    def forward(self, state):
        seen = self.body(state)
        return Categorical(logits=self.pool(seen)), self.value(seen).squeeze(-1)


model = Otter()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for dive in range(150):
    state = torch.randn(64, 4)
    policy, value = model(state)
    pool = policy.sample()
    fish = (pool == (state @ river).argmax(1)).float()
    advantage = (fish - value).detach()
    policy_loss = -(policy.log_prob(pool) * advantage).mean()
    value_loss = nn.functional.mse_loss(value, fish)
    loss = policy_loss + 0.5 * value_loss + 0.1 * policy.entropy().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if dive % 30 == 29:
        print(f"dive {dive} fish {fish.mean().item():.2f} entropy {policy.entropy().mean().item():.2f}")
