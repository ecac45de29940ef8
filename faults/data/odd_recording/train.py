"""Speaker embedding from pooled recordings, one pass over a small corpus."""

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(4)
voices = torch.randint(0, 6, (257,))
frames = torch.randn(257, 20) + voices[:, None] * 0.3
loader = DataLoader(TensorDataset(frames, voices), batch_size=16, shuffle=True, generator=torch.Generator().manual_seed(5))
model = nn.Sequential(nn.Linear(20, 24), nn.BatchNorm1d(24), nn.ReLU(), nn.Linear(24, 6))
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(2):
    for x, y in loader:
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
