"""Whether a reed warbler sings by day or by night, from the syllables of a song read both ways."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(3)
SYLLABLES, LENGTH = 30, 12
songs = torch.randint(0, SYLLABLES, (1600, LENGTH))
night = ((songs < 9).sum(1) > 3).long()


class Song(nn.Module):
    def __init__(self):
        super().__init__()
        self.syllable = nn.Embedding(SYLLABLES, 24)
        self.read = nn.GRU(24, 32, batch_first=True, bidirectional=True)
        self.out = nn.Linear(64, 2)

    def forward(self, song):
        _, last = self.read(self.syllable(song))
        last = last.reshape(len(song), -1)
        return self.out(last)


model = Song()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
train = DataLoader(TensorDataset(songs[:1200], night[:1200]), batch_size=40, shuffle=True)
for epoch in range(5):
    model.train()
    for x, y in train:
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        right = (model(songs[1200:]).argmax(1) == night[1200:]).float().mean().item()
    print(f"epoch {epoch} loss {loss.item():.3f} right {right:.3f}")
