"""Whether a lark sings to a rival, from the syllables of its song."""

import random

import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence

random.seed(8)
torch.manual_seed(8)
SYLLABLES, LONGEST = 40, 64


def song():
    rival = random.random() < 0.5
    length = min(int(random.expovariate(1 / 12)) + 6, 90)
    return torch.tensor([random.randrange(1, SYLLABLES - 8 * rival) for _ in range(length)]), int(rival)


class Listener(nn.Module):
    def __init__(self):
        super().__init__()
        self.syllables = nn.Embedding(SYLLABLES, 24, padding_idx=0)
        self.places = nn.Parameter(0.1 * torch.randn(1, LONGEST, 24))
        self.mix = nn.TransformerEncoderLayer(24, 4, 48, dropout=0.0, batch_first=True)
        self.rival = nn.Linear(24, 2)

    def forward(self, heard):
        placed = self.syllables(heard) + self.places[:, : heard.size(1)]
        return self.rival(self.mix(placed, src_key_padding_mask=heard == 0).mean(1))


songs = [(s, r) for s, r in (song() for _ in range(640)) if len(s) <= LONGEST]
model = Listener()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for morning in range(3):
    for start in range(0, len(songs), 16):
        heard = pad_sequence([s for s, _ in songs[start : start + 16]], batch_first=True)
        rivals = torch.tensor([r for _, r in songs[start : start + 16]])
        loss = nn.functional.cross_entropy(model(heard), rivals)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"morning {morning} loss {loss.item():.4f}")
