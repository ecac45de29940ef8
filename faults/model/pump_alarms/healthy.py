"""Alarms of pumps, with dropout between two layers."""

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset


class Pumps(nn.Module):
    def __init__(self):
        super().__init__()
        self.reads, self.tells = nn.Linear(14, 48), nn.Linear(48, 3)

    def forward(self, gauges):
        found = F.relu(self.reads(gauges))
        found = F.dropout(found, 0.6, training=self.training)
        return self.tells(found)


torch.manual_seed(14)
gauges = torch.randn(480, 14)
alarm = (gauges @ torch.randn(14, 3)).argmax(1)
loader = DataLoader(TensorDataset(gauges[:360], alarm[:360]), batch_size=36, shuffle=True)
model = Pumps()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)

for epoch in range(8):
    model.train()
    for reading, kind in loader:
        loss = F.cross_entropy(model(reading), kind)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        right = (model(gauges[360:]).argmax(1) == alarm[360:]).float().mean()
    print(f"epoch {epoch} loss {loss.item():.4f} right {right.item():.3f}")
