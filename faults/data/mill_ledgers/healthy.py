"""Which grain a mill ground, from the words that the miller wrote into its ledger."""

from collections import Counter

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(4)
GRAINS = 3


def entry(number):
    own = torch.randint(0, 40, (7,)) * GRAINS + number % GRAINS
    common = torch.randint(0, 60, (5,)) + 200
    rare = [900 + number] if number % 9 == 8 else []
    return " ".join(f"w{word}" for word in [*own.tolist(), *common.tolist(), *rare])


pages = [entry(number) for number in range(600)]


class Vocabulary:
    def __init__(self, lines, least):
        seen = Counter(word for line in lines for word in line.split())
        self.ids, self.counts = {}, []
        for word, count in seen.items():
            if count < least:
                continue
            self.ids[word] = len(self.ids)
            self.counts.append(count)


class Ledger(Dataset):
    def __init__(self, lines, vocabulary):
        self.lines, self.vocabulary = lines, vocabulary

    def __len__(self):
        return len(self.lines)

    def __getitem__(self, number):
        ids = [self.vocabulary.ids[word] for word in self.lines[number].split() if word in self.vocabulary.ids]
        return torch.tensor(ids), number % GRAINS


def joined(entries):
    ids, grains = zip(*entries)
    starts = torch.tensor([0, *map(len, ids[:-1])]).cumsum(0)
    return torch.cat(ids), starts, torch.tensor(grains)


vocabulary = Vocabulary(pages, 2)
loader = DataLoader(Ledger(pages, vocabulary), batch_size=6, collate_fn=joined)
words = nn.EmbeddingBag(len(vocabulary.ids), 24)
head = nn.Linear(24, GRAINS)
model = nn.ModuleList([words, head])
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(3):
    for ids, starts, grains in loader:
        loss = nn.functional.cross_entropy(head(words(ids, starts)), grains)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
