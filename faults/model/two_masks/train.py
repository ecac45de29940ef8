"""Next note of a tune, with a mask for the padding and one for the future."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(8)
NOTES, LENGTH = 12, 16


class Attention(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.ask, self.key, self.value = nn.Linear(width, width), nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, x, mask):
        scores = self.ask(x) @ self.key(x).transpose(1, 2) / x.shape[-1] ** 0.5
        scores = scores.masked_fill(mask == 0, -1e4)
        weights = torch.softmax(scores, dim=-1)
        return x + weights @ self.value(x)


class Tunes(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.note, self.place = nn.Embedding(NOTES, width), nn.Embedding(LENGTH, width)
        self.attend = Attention(width)
        self.head = nn.Linear(width, NOTES)

    def make_mask(self, notes):
        there = (notes != 0).unsqueeze(2)
        before = torch.tril(torch.ones(notes.shape[1], notes.shape[1])).bool()
        return there | before

    def forward(self, notes):
        mask = self.make_mask(notes)
        x = self.note(notes) + self.place.weight[: notes.shape[1]]
        return self.head(self.attend(x, mask))


tunes = 1 + (torch.randint(0, NOTES - 1, (600, 1)) + torch.randint(0, 4, (600, LENGTH)).cumsum(1)) % (NOTES - 1)
model = Tunes()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for step in range(120):
    rows = tunes[torch.randint(0, 600, (32,))]
    loss = F.cross_entropy(model(rows[:, :-1]).flatten(0, 1), rows[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 30 == 0:
        print(f"step {step} loss {loss.item():.4f}")
