"""Sorts of barley by their grains: which of eight?"""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Grains(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second, self.last = nn.Linear(12, 48), nn.Linear(48, 48), nn.Linear(48, 8)

    def forward(self, x):
        for layer in (self.first, self.second, self.last):
            x = F.relu(layer(x))
        return x


torch.manual_seed(2)
centres = torch.randn(8, 12)
sort = torch.randint(8, (1024,))
grains = centres[sort] + 0.8 * torch.randn(1024, 12)
model = Grains()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(5):
    for x, y in DataLoader(TensorDataset(grains, sort), batch_size=32, shuffle=True):
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
