"""Which of three dens a stoat takes: an actor and a critic, updated together from returns."""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(2)
hill = torch.randn(4, 3)
actor = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 3))
critic = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 1))
optimizer = torch.optim.Adam([*actor.parameters(), *critic.parameters()], lr=3e-3)
for night in range(150):
    states = torch.randn(40, 4)
    policy, values = Categorical(logits=actor(states)), critic(states).squeeze(-1)
    dens = policy.sample()
    rewards = (dens == (states @ hill).argmax(1)).float()
    returns, after = [], 0.0
    for reward in rewards.flip(0):
        after = reward + 0.5 * after
        returns.insert(0, after)
    advantages = torch.stack(returns) - values
    actor_loss = -(policy.log_prob(dens) * advantages).mean()
    critic_loss = advantages.pow(2).mean()
    loss = actor_loss + 0.5 * critic_loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if night % 30 == 29:
        print(f"night {night} taken {rewards.mean().item():.2f} error {critic_loss.item():.3f}")
