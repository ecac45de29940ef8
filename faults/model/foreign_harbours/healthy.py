"""Which goods a crane lifts, learnt in one harbour, for another one that has no labels: what tells the harbours apart is
to be forgotten."""

import math

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(11)


class Reverse(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, strength):
        ctx.strength = strength
        return x.view_as(x)

    @staticmethod
    def backward(ctx, gradient):
        return -ctx.strength * gradient, None


class Crane(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(12, 48), nn.ReLU(), nn.Linear(48, 24), nn.ReLU())
        self.goods = nn.Linear(24, 3)
        self.harbour = nn.Sequential(nn.Linear(24, 24), nn.ReLU(), nn.Linear(24, 2))

    def forward(self, x, strength):
        seen = self.body(x)
        return self.goods(seen), self.harbour(Reverse.apply(seen, strength))


weights = torch.randn(12, 3)
home = torch.randn(900, 12)
goods = (home @ weights).argmax(1)
foreign = torch.randn(900, 12) + 0.8
crane = Crane()
optimizer = torch.optim.Adam(crane.parameters(), lr=1e-3)
STEPS = 200
for step in range(STEPS):
    strength = 2 / (1 + math.exp(-10 * step / STEPS)) - 1
    here, there = torch.randint(900, (32,)), torch.randint(900, (32,))
    lifted, first = crane(home[here], strength)
    _, second = crane(foreign[there], strength)
    harbours = F.cross_entropy(torch.cat([first, second]), torch.arange(2).repeat_interleave(32))
    loss = F.cross_entropy(lifted, goods[here]) + harbours
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 40 == 39:
        print(f"step {step} harbours {harbours.item():.3f}")
