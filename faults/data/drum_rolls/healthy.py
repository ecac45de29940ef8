"""Strokes of a drum, one after the other; a recurrent net says the next stroke, twelve passages at a time."""

import torch
from torch import nn

torch.manual_seed(9)
STROKES, PASSAGES, BEATS = 40, 12, 24
often = torch.randint(0, STROKES, (STROKES, 3))
shares = torch.tensor([0.75, 0.17, 0.08])


def played(count):
    strokes, last = [], 0
    for choice in torch.multinomial(shares, count, replacement=True).tolist():
        last = int(often[last, choice])
        strokes.append(last)
    return torch.tensor(strokes)


def passages(strokes):
    whole = len(strokes) // PASSAGES * PASSAGES
    return strokes[:whole].view(PASSAGES, -1)


class Drummer(nn.Module):
    """Remembers the passage so far."""

    def __init__(self):
        super().__init__()
        self.strokes = nn.Embedding(STROKES, 24)
        self.memory = nn.GRU(24, 48, batch_first=True)
        self.next = nn.Linear(48, STROKES)

    def forward(self, heard):
        return self.next(self.memory(self.strokes(heard))[0])


rows = passages(played(12000))
drummer = Drummer()
optimizer = torch.optim.Adam(drummer.parameters(), lr=4e-3)
for evening in range(5):
    for begin in range(0, rows.shape[1] - BEATS, BEATS):
        heard, wanted = rows[:, begin : begin + BEATS], rows[:, begin + 1 : begin + BEATS + 1]
        loss = nn.functional.cross_entropy(drummer(heard).flatten(0, 1), wanted.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"evening {evening} loss {loss.item():.3f}")
