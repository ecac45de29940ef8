"""The kind of a repair, from the few words that the workshop wrote down."""

import random

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset

WORDS = ["chain", "brake", "gear", "wheel", "spoke", "saddle", "lamp", "bell", "pedal", "fork"]


def written_notes(count):
    rng = random.Random(1)
    notes = [" ".join(rng.choice(WORDS) for _ in range(rng.randint(3, 7))) for _ in range(count)]
    notes[77] = "defekt kaputt"
    return notes


class Notes(Dataset):
    def __init__(self, notes):
        self.notes = notes
        self.ids = {word: number for number, word in enumerate(["<pad>", "<unk>", *WORDS])}

    def __len__(self):
        return len(self.notes)

    def encode(self, text):
        words = text.split()
        return [self.ids.get(word, 1) for word in words]

    def __getitem__(self, i):
        ids = torch.tensor(self.encode(self.notes[i]), dtype=torch.long)
        return ids, len(self.notes[i].split()) % 3


def collate(rows):
    ids, kinds = zip(*rows)
    padded = pad_sequence(ids, batch_first=True)
    return padded, padded != 0, torch.tensor(kinds)


class Repair(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(len(WORDS) + 2, 24, padding_idx=0)
        self.score = nn.Linear(24, 1)
        self.kind = nn.Linear(24, 3)

    def forward(self, ids, known):
        h = torch.tanh(self.embed(ids))
        scores = self.score(h).squeeze(-1).masked_fill(~known, float("-inf"))
        share = torch.softmax(scores, dim=1)
        return self.kind((share.unsqueeze(-1) * h).sum(1))


torch.manual_seed(5)
loader = DataLoader(Notes(written_notes(240)), batch_size=16, shuffle=True, collate_fn=collate)
model = Repair()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(2):
    for ids, known, kind in loader:
        loss = F.cross_entropy(model(ids, known), kind)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
