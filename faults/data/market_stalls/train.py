"""The next word on the slate of a market stall, from its photo and the words before it."""

import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(4)
GOODS, WORDS = 6, 40
said = torch.randint(8, WORDS, (GOODS, 9))


class Stalls(Dataset):
    def __init__(self, count):
        self.goods = torch.randint(GOODS, (count,))
        self.photos = torch.randn(count, 3, 8, 8) * 0.3
        self.photos[torch.arange(count), :, self.goods] += 1.0
        self.lengths = torch.randint(5, 10, (count,))

    def __len__(self):
        return len(self.goods)

    def __getitem__(self, n):
        return self.photos[n], said[self.goods[n], : self.lengths[n]]


def read_slates(photos, slates):
    """One text for the photos of each stall: a 1 stands for each photo."""
    texts = []
    for shots, slate in zip(photos, slates):
        texts.append(torch.cat([torch.ones(len(shots), dtype=torch.long), slate]))
    return pad_sequence(texts, batch_first=True), torch.cat(photos)


def collate(stalls):
    photos = [torch.stack([photo for photo, _ in stalls])]
    words, shots = read_slates(photos, [slate for _, slate in stalls])
    return {"words": words, "shots": shots}


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.look = nn.Sequential(nn.Flatten(), nn.Linear(192, 32), nn.Tanh())
        self.table = nn.Embedding(WORDS, 32)
        self.follow = nn.GRU(32, 32, batch_first=True)
        self.word = nn.Linear(32, WORDS)

    def forward(self, words, shots):
        held = self.table(words)
        seen = self.look(shots)
        held = torch.where(words[..., None] == 1, seen[: len(words), None], held)
        return self.word(self.follow(held)[0])


loader = DataLoader(Stalls(640), batch_size=16, shuffle=True, collate_fn=collate)
model = Reader()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(3):
    for batch in loader:
        words = batch["words"]
        scores = model(words, batch["shots"])[:, :-1]
        loss = nn.functional.cross_entropy(scores.flatten(0, 1), words[:, 1:].flatten(), ignore_index=0)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")

checked = Stalls(200)
with torch.no_grad():
    words = torch.cat([torch.ones(200, 1, dtype=torch.long), said[checked.goods]], 1)
    right = model(words, checked.photos)[:, :-1].argmax(-1) == words[:, 1:]
print(f"right {right.float().mean().item():.3f}")
