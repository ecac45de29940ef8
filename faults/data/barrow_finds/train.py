"""What a barrow held, from the words of the digger's label; words get ids behind padding and the unknown word."""

import random

import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

PADDING, UNKNOWN = 0, 1


class Words:
    def __init__(self, labels):
        self.known = sorted({word for label in labels for word in label.split()})
        self.ids = {word: place + 2 for place, word in enumerate(self.known)}

    @property
    def size(self):
        return len(self.known) + 1

    def encode(self, label):
        return torch.tensor([self.ids.get(word, UNKNOWN) for word in label.split()])


class Finds(nn.Module):
    def __init__(self, words, width):
        super().__init__()
        self.table = nn.Embedding(words, width, padding_idx=PADDING)
        self.head = nn.Linear(width, 2)

    def forward(self, ids):
        return self.head(self.table(ids).mean(dim=1))


random.seed(6)
torch.manual_seed(6)
metal, clay = "bronze gold ring blade pin torc".split(), "urn bowl sherd rim cup glaze".split()
labels, kinds = [], []
for n in range(200):
    kind = n % 2
    words = random.choices(clay if kind else metal, k=2) + random.choices(["near", "the", "wall", "old"], k=n % 3)
    labels.append(" ".join(words))
    kinds.append(kind)
vocabulary = Words(labels)


def collate(rows):
    return pad_sequence([vocabulary.encode(labels[n]) for n in rows], batch_first=True), torch.tensor(
        [kinds[n] for n in rows]
    )


loader = DataLoader(range(200), batch_size=20, shuffle=True, collate_fn=collate)
model = Finds(vocabulary.size, 16)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(5):
    for ids, kind in loader:
        loss = nn.functional.cross_entropy(model(ids), kind)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
