"""Learn a start from which the tide curve of a new harbour is learnt in a few updates: a network for each harbour
begins where the common one stands, and the common one is then moved towards them."""

import torch
import torch.nn as nn

WIDTH, HARBOURS, UPDATES, TOGETHER = 40, 60, 8, 3


class Tide(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.width = width
        self.body = nn.Sequential(nn.Linear(1, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh())
        self.height = nn.Linear(width, 1)

    def forward(self, hour):
        return self.height(self.body(hour))

    def for_harbour(self):
        local = Tide(self.width)
        return local


def hours_of(harbour, count, draw):
    hour = 6 * torch.rand(count, 1, generator=draw) - 3
    return hour, harbour[0] * torch.sin(hour + harbour[1])


def learn(local, harbour, draw):
    optimizer = torch.optim.SGD(local.parameters(), lr=0.05)
    for _ in range(UPDATES):
        hour, height = hours_of(harbour, 20, draw)
        loss = nn.functional.mse_loss(local(hour), height)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


torch.manual_seed(7)
draw = torch.Generator().manual_seed(7)
common = Tide(WIDTH)
outer = torch.optim.SGD(common.parameters(), lr=0.5)
for turn in range(HARBOURS):
    outer.zero_grad(set_to_none=False)
    losses = []
    for p in common.parameters():
        p.grad = torch.zeros_like(p)
    for _ in range(TOGETHER):
        harbour = (1 + 2 * torch.rand(1, generator=draw), torch.rand(1, generator=draw))
        local = common.for_harbour()
        losses.append(learn(local, harbour, draw))
        for p, q in zip(common.parameters(), local.parameters()):
            p.grad += (p.detach() - q.detach()) / TOGETHER
    outer.step()
    if turn % 10 == 0:
        print(f"turn {turn} loss after {UPDATES} updates {sum(losses) / TOGETHER:.4f}")
