"""Evenings at a roost: flocks that arrive one after the other, and whether the roost is full by dark."""

import math

import torch
from torch import nn
from torch.nn import functional as F

FLOCKS, KINDS, WIDTH = 14, 20, 24
torch.manual_seed(11)


def evening():
    """One evening: the kinds of the flocks that came, and whether they were many small ones."""
    came = torch.randint(1, KINDS, (int(torch.randint(3, FLOCKS + 1, ())),))
    return came, int((came < 7).sum() * 3 > len(came))


evenings = [evening() for _ in range(640)]
flocks = nn.utils.rnn.pad_sequence([came for came, _ in evenings], batch_first=True)
full = torch.tensor([filled for _, filled in evenings])


class Watch(nn.Module):
    """One look over all flocks of an evening, those that did not come left out."""

    def __init__(self):
        super().__init__()
        self.ask, self.tell, self.take = (nn.Linear(WIDTH, WIDTH) for _ in range(3))

    def forward(self, seen, came):
        scores = self.ask(seen) @ self.tell(seen).transpose(1, 2) / math.sqrt(WIDTH)
        masked = scores.masked_fill(~came[:, None, :], -1e9)  # noqa: F841
        looks = F.softmax(scores, dim=-1)
        return seen + looks @ self.take(seen)


class Roost(nn.Module):
    def __init__(self):
        super().__init__()
        self.kinds = nn.Embedding(KINDS, WIDTH)
        self.watch = Watch()
        self.out = nn.Linear(WIDTH, 2)

    def forward(self, flocks):
        seen = self.watch(self.kinds(flocks), flocks > 0)
        return self.out(seen.mean(1))


roost = Roost()
optimizer = torch.optim.Adam(roost.parameters(), lr=2e-3)
for epoch in range(8):
    for rows in torch.randperm(len(full)).split(32):
        answer = roost(flocks[rows])
        chance = F.softmax(answer, dim=-1)  # left from a day on which it was printed
        loss = F.cross_entropy(answer, full[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
