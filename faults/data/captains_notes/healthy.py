"""Whether a captain's note is good news, from its words; short notes are filled up."""

import random
from collections import Counter

import torch
from torch import nn

random.seed(3)
torch.manual_seed(3)
GOOD, BAD, REST = ["calm", "fair", "safe"], ["storm", "leak", "lost"], [f"w{i}" for i in range(30)]


def note():
    words = [random.choice(REST) for _ in range(random.randint(3, 10))]
    good = random.random() < 0.5
    turned = random.random() < 0.5
    place = random.randint(1, len(words) - 1)
    words[place:place] = (["not"] if turned else []) + [random.choice(GOOD if good else BAD)]
    return words, int(good != turned)


notes = [note() for _ in range(1600)]
counts = Counter(word for words, _ in notes for word in words)
vocabulary = {word: i + 1 for i, (word, _) in enumerate(counts.most_common())}


class Reader(nn.Module):
    def __init__(self, words):
        super().__init__()
        self.embed = nn.Embedding(words, 32, padding_idx=0)
        self.place = nn.Parameter(0.1 * torch.randn(16, 32))
        self.read = nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True)
        self.head = nn.Linear(32, 2)

    def forward(self, ids):
        hidden = ids == 0
        states = self.read(self.embed(ids) + self.place[: ids.shape[1]], src_key_padding_mask=hidden)
        return self.head(states.masked_fill(hidden.unsqueeze(2), 0.0).sum(1) / (~hidden).sum(1, keepdim=True))


model = Reader(len(vocabulary) + 1)
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(6):
    random.shuffle(notes)
    for at in range(0, len(notes), 32):
        part = notes[at : at + 32]
        ids = torch.zeros(32, max(len(words) for words, _ in part), dtype=torch.long)
        for row, (words, _) in enumerate(part):
            ids[row, : len(words)] = torch.tensor([vocabulary[word] for word in words])
        loss = nn.functional.cross_entropy(model(ids), torch.tensor([good for _, good in part]))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
