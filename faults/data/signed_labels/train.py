"""Does a heart beat belong to class A? Beats come with the labels of an older margin classifier."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(5)
beats = torch.randn(256, 16)
labels = torch.sign(beats @ torch.randn(16))
loader = DataLoader(TensorDataset(beats, labels), batch_size=32)
model = nn.Sequential(nn.Linear(16, 24), nn.ReLU(), nn.Linear(24, 1))
criterion = nn.BCEWithLogitsLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for epoch in range(4):
    for x, y in loader:
        loss = criterion(model(x).squeeze(1), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
