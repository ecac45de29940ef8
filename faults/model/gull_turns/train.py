"""Which of five winds a gull takes: a policy that learns from its own flights, ten updates from each."""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(3)
coast = torch.randn(6, 5)
policy = nn.Sequential(nn.Linear(6, 64), nn.Tanh(), nn.Linear(64, 5))
value = nn.Sequential(nn.Linear(6, 64), nn.Tanh(), nn.Linear(64, 1))
optimizer = torch.optim.Adam([*policy.parameters(), *value.parameters()], lr=3e-2)
for flight in range(80):
    air = torch.randn(64, 6)
    with torch.no_grad():
        winds = Categorical(logits=policy(air))
        wind = winds.sample()
        old = winds.log_prob(wind)
        risen = (air @ coast)[torch.arange(64), wind] + torch.randn(64)
        advantage = risen - value(air).squeeze(-1)
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
    for _ in range(10):
        winds = Categorical(logits=policy(air))
        ratio = (winds.log_prob(wind) - old).exp()
        free = ratio * advantage
        held = torch.clamp(ratio, 0.8, 1.2) * advantage
        policy_loss = -torch.max(free, held).mean()
        value_loss = nn.functional.mse_loss(value(air).squeeze(-1), risen)
        loss = policy_loss + 0.5 * value_loss - 0.01 * winds.entropy().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if flight % 20 == 19:
        print(f"flight {flight} risen {risen.mean().item():.3f} ratio {ratio.max().item():.2f}")
