"""A vendor learns which of five stalls sells best at each hour; the policy ends in a softmax."""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(31)
hours = torch.eye(12)
best = torch.randint(0, 5, (12,))


class Policy(nn.Module):
    """Shares of the stalls."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(12, 32), nn.Tanh(), nn.Linear(32, 5))

    def forward(self, hour):
        return torch.softmax(self.body(hour), dim=-1)


policy = Policy()
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
for step in range(200):
    seen = torch.randint(0, 12, (64,))
    stalls = Categorical(probs=policy(hours[seen]))
    choice = stalls.sample()
    earned = (choice == best[seen]).float() + 0.1 * torch.randn(64)
    loss = -(stalls.log_prob(choice) * (earned - earned.mean())).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 40 == 39:
        print(f"step {step} earned {earned.mean().item():.3f}")
