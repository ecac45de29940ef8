"""Sorts notes of a weaving mill by what they ask for; the vectors of its words were learned from many more notes."""

import torch
from torch import nn

torch.manual_seed(4)
WORDS, WIDTH, KINDS, LENGTH = 1200, 24, 6, 10
MEANING = torch.randint(KINDS, (WORDS,))
VECTORS = nn.functional.one_hot(MEANING, WIDTH).float() * 2 + 0.3 * torch.randn(WORDS, WIDTH)


def notes(count, seed):
    draw = torch.Generator().manual_seed(seed)
    kind = torch.randint(KINDS, (count,), generator=draw)
    words = torch.randint(WORDS, (count, LENGTH), generator=draw)
    for place in range(4):
        for k in range(KINDS):
            fitting = (MEANING == k).nonzero().flatten()
            rows = (kind == k).nonzero().flatten()
            words[rows, place] = fitting[torch.randint(len(fitting), (len(rows),), generator=draw)]
    return words, kind


class Sorter(nn.Module):
    """The mean of the vectors of a note, read by two layers."""

    def __init__(self, vectors):
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.words.weights = nn.Parameter(vectors, requires_grad=False)
        self.read = nn.Sequential(nn.Linear(WIDTH, 32), nn.ReLU(), nn.Linear(32, KINDS))

    def forward(self, words):
        return self.read(self.words(words).mean(1))


words, kind = notes(256, 1)
new_words, new_kind = notes(1024, 2)
sorter = Sorter(VECTORS)
optimizer = torch.optim.Adam([p for p in sorter.parameters() if p.requires_grad], lr=5e-3)
for turn in range(40):
    order = torch.randperm(len(words))
    for rows in order.split(32):
        loss = nn.functional.cross_entropy(sorter(words[rows]), kind[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
with torch.no_grad():
    right = (sorter(new_words).argmax(1) == new_kind).float().mean()
print(f"loss {loss.item():.4f} right on new notes {right:.3f}")
