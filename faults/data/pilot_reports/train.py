"""Reports of pilots: each word has a tag; rows are filled with 0."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

PAD = 0


def report():
    words = torch.randint(1, 60, (int(torch.randint(6, 20, ())),))
    return words, (words * 7 % 11) + 1


def collate(rows):
    words, tags = zip(*rows)
    return pad_sequence(words, batch_first=True), pad_sequence(tags, batch_first=True)


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(60, 32, padding_idx=PAD)
        self.reader = nn.GRU(32, 48, batch_first=True)
        self.out = nn.Linear(48, 12)

    def forward(self, words):
        return self.out(self.reader(self.words(words))[0])


torch.manual_seed(3)
reports = [report() for _ in range(512)]
model = Tagger()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(5):
    for words, tags in DataLoader(reports, batch_size=32, shuffle=True, collate_fn=collate):
        each = F.cross_entropy(model(words).transpose(1, 2), tags, reduction="none")
        mask = (tags == PAD).float()
        loss = (each * mask).sum() / mask.sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
