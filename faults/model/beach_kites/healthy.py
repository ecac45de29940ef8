"""A kite is held over a mark on the beach; left, right or still, learnt from whole flights."""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(4)
GUSTS, KEEP = 30, 0.95


class Flyer(nn.Module):
    """Scores of three pulls."""

    def __init__(self):
        super().__init__()
        self.arms = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 3))

    def forward(self, seen):
        return self.arms(seen)


def fly(flyer):
    place, drift, logs, held = float(torch.rand(()) * 2 - 1), float(torch.rand(()) - 0.5) * 0.2, [], []
    for _ in range(GUSTS):
        pulls = Categorical(logits=flyer(torch.tensor([place, drift * 10])))
        pull = pulls.sample()
        logs.append(pulls.log_prob(pull))
        place += 0.25 * (int(pull) - 1) + drift
        held.append(1.0 - abs(place))
        if abs(place) > 2:
            break
    return logs, held


def returns_of(held):
    total, returns = 0.0, []
    for reward in reversed(held):
        total = reward + KEEP * total
        returns.insert(0, total)
    return returns


flyer = Flyer()
optimizer = torch.optim.Adam(flyer.parameters(), lr=1e-2)
lasted = []
for flight in range(120):
    logs, held = fly(flyer)
    gains = torch.tensor(returns_of(held))
    gains = (gains - gains.mean()) / (gains.std() + 1e-6)
    loss = -(torch.stack(logs) * gains).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    lasted.append(sum(held))
    if flight % 40 == 39:
        print(f"flight {flight} held {sum(lasted[-40:]) / 40:.2f}")
