"""A transformer reads a day of hours at the coast and tells whether a storm follows."""

import math

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class PositionalEncoding(nn.Module):
    def __init__(self, wide, longest=500):
        super().__init__()
        place = torch.arange(longest).unsqueeze(1)
        rates = torch.exp(torch.arange(0, wide, 2) * (-math.log(10000.0) / wide))
        table = torch.zeros(longest, 1, wide)
        table[:, 0, 0::2], table[:, 0, 1::2] = torch.sin(place * rates), torch.cos(place * rates)
        self.register_buffer("table", table)

    def forward(self, x):
        return x + self.table[: x.size(1)].transpose(0, 1)


class Storms(nn.Module):
    def __init__(self, wide=32):
        super().__init__()
        self.inside = nn.Linear(3, wide)
        self.places = PositionalEncoding(wide)
        layer = nn.TransformerEncoderLayer(wide, 4, 64, dropout=0.0, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)
        self.out = nn.Linear(wide, 2)

    def forward(self, hours):
        return self.out(self.layers(self.places(self.inside(hours))).mean(1))


torch.manual_seed(1)
hours = torch.randn(768, 24, 3)
storm = (hours[:, 18:, 0].mean(1) > hours[:, :6, 0].mean(1)).long()
model = Storms()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(6):
    for x, y in DataLoader(TensorDataset(hours, storm), batch_size=32, shuffle=True):
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
