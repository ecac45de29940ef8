"""A lock keeper opens one of two gates, by the water on both sides; whole rounds are kept and learnt from afterwards."""

import torch
from torch import nn
from torch.distributions import Normal

torch.manual_seed(23)
LOCKS, TURNS = 8, 32


class Keeper(nn.Module):
    """How far the gate is opened, with a spread of its own."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))
        self.spread = nn.Parameter(torch.full((1,), -0.5))

    def forward(self, water):
        return Normal(self.body(water), self.spread.exp().expand(len(water), 1))


class Rounds:
    """What was seen and done in the last round."""

    def __init__(self):
        self.water, self.opened, self.logs, self.earned = [], [], [], []

    def add(self, water, opened, log, earned):
        self.water.append(water)
        self.opened.append(opened)
        self.logs.append(log)
        self.earned.append(earned)

    def rows(self):
        return (
            torch.stack(self.water, 1).flatten(0, 1),
            torch.stack(self.opened).flatten(0, 1),
            torch.stack(self.logs).flatten(0, 1),
            torch.stack(self.earned).flatten(0, 1),
        )


keeper = Keeper()
optimizer = torch.optim.Adam(keeper.parameters(), lr=3e-3)
for lap in range(25):
    rounds = Rounds()
    for turn in range(TURNS):
        water = torch.randn(LOCKS, 4)
        with torch.no_grad():
            gates = keeper(water)
            opened = gates.sample()
            log = gates.log_prob(opened).sum(-1)
        needed = 0.8 * water[:, 0] - 0.5 * water[:, 1]
        rounds.add(water, opened, log, -(opened.squeeze(-1) - needed).square())
    water, opened, old, earned = rounds.rows()
    better = (earned - earned.mean()) / (earned.std() + 1e-6)
    for _ in range(4):
        for part in torch.randperm(LOCKS * TURNS).split(64):
            new = keeper(water[part]).log_prob(opened[part]).sum(-1)
            ratio = torch.exp(new - old[part])
            gain = torch.min(ratio * better[part], ratio.clamp(0.8, 1.2) * better[part])
            optimizer.zero_grad()
            (-gain.mean()).backward()
            optimizer.step()
    if lap % 5 == 4:
        print(f"lap {lap} earned {earned.mean().item():.3f}")
