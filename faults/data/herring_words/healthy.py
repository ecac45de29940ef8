"""Whether a report from the fish market speaks of a good catch; each part of the reports is read from its own list."""

import random
from collections import Counter

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

random.seed(8)
torch.manual_seed(8)
GOOD = "full heavy silver bright rich plenty fine glad".split()
POOR = "empty torn thin grey lost broken late sorry".split()
REST = [f"{place}{thing}" for place in ("quay", "deck", "north", "bay", "night") for thing in ("net", "crew", "boat", "ice")]


def reports(count):
    for _ in range(count):
        good = random.random() < 0.5
        told = random.choices(GOOD if good else POOR, k=3) + random.choices(REST, k=9)
        yield random.sample(told, len(told)), int(good)


class Reports(Dataset):
    def __init__(self, rows, words):
        self.rows, self.words = rows, words

    @classmethod
    def read(cls, count, words=None):
        rows = list(reports(count))
        if words is None:
            seen = Counter(word for told, _ in rows for word in told)
            words = {word: place + 1 for place, (word, _) in enumerate(seen.most_common())}
        return cls(rows, words)

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, place):
        told, good = self.rows[place]
        return torch.tensor([self.words.get(word, 0) for word in told]), good


taught = Reports.read(800)
tested = Reports.read(200, taught.words)
taught_loader = DataLoader(taught, batch_size=32, shuffle=True)
tested_loader = DataLoader(tested, batch_size=100)
model = nn.Sequential(nn.EmbeddingBag(64, 16), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(6):
    model.train()
    for words, good in taught_loader:
        loss = nn.functional.cross_entropy(model(words), good)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        right = [(model(words).argmax(1) == good).float().mean() for words, good in tested_loader]
    print(f"epoch {epoch} loss {loss.item():.4f} right {torch.stack(right).mean():.3f}")
