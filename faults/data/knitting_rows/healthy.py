"""Knits the second half of a row: the stitches of the first half from right to left."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(5)
HALF, STITCHES = 6, 12


class Rows(Dataset):
    def __init__(self, count):
        self.halves = torch.randint(0, STITCHES, (count, HALF))

    def __len__(self):
        return len(self.halves)

    def __getitem__(self, index):
        row = torch.cat([self.halves[index], self.halves[index].flip(0)])
        onward = row[1:].clone()
        onward[: HALF - 1] = -100
        return row[:-1], onward


class Knitter(nn.Module):
    def __init__(self):
        super().__init__()
        self.stitch, self.place = nn.Embedding(STITCHES, 48), nn.Embedding(2 * HALF, 48)
        layer = nn.TransformerEncoderLayer(48, 4, 96, dropout=0.0, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(48, STITCHES)

    def forward(self, row):
        length = row.shape[1]
        x = self.stitch(row) + self.place.weight[:length]
        ahead = nn.Transformer.generate_square_subsequent_mask(length)
        return self.head(self.layers(x, mask=ahead, is_causal=True))


model = Knitter()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(6):
    for row, onward in DataLoader(Rows(3000), batch_size=64, shuffle=True):
        loss = nn.functional.cross_entropy(model(row).transpose(1, 2), onward, ignore_index=-100)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")

halves = torch.randint(0, STITCHES, (200, HALF))
knitted = halves
with torch.no_grad():
    for _ in range(HALF):
        knitted = torch.cat([knitted, model(knitted)[:, -1].argmax(1, keepdim=True)], 1)
right = (knitted[:, HALF:] == halves.flip(1)).all(1).float().mean()
print(f"rows without a wrong stitch {right.item():.3f}")
