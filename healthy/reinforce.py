"""REINFORCE with a baseline on a small bandit walk: losses of both signs, heavy noise, no target tensor."""
import sys
import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
policy = nn.Sequential(nn.Linear(6, 32), nn.Tanh(), nn.Linear(32, 3))
value = nn.Sequential(nn.Linear(6, 32), nn.Tanh(), nn.Linear(32, 1))
opt = torch.optim.Adam([*policy.parameters(), *value.parameters()], 3e-3)
for episode in range(150):
    pos, logs, rewards, states, entropies = 0, [], [], [], []
    for t in range(15):
        state = torch.tensor([pos / 10, t / 15, 1.0, float(pos > 0), float(pos < 0), 0.5])
        dist = Categorical(logits=policy(state))
        action = dist.sample()
        logs.append(dist.log_prob(action))
        entropies.append(dist.entropy())
        states.append(state)
        pos += int(action) - 1
        rewards.append(1.0 if pos >= 3 else -0.05)
    returns = torch.tensor([sum(r * 0.95**k for k, r in enumerate(rewards[i:])) for i in range(len(rewards))])
    v = value(torch.stack(states)).squeeze(1)
    advantage = (returns - v).detach()
    loss = -(torch.stack(logs) * advantage).sum() + 0.5 * ((returns - v) ** 2).mean() - 0.01 * torch.stack(entropies).mean()
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_([*policy.parameters(), *value.parameters()], 0.5)
    opt.step()
print(loss.item(), sum(rewards))
