"""Churn model: 20 usage figures of a customer, did he leave? A small pilot set, evaluated after each epoch."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

EPOCHS = 40

torch.manual_seed(7)
usage = torch.randn(640, 20)
taste = torch.randn(20)
left = (usage @ taste / 20**0.5 + 0.7 * torch.randn(640) > 0).long()
train = DataLoader(TensorDataset(usage[:128], left[:128]), batch_size=16, shuffle=True)
valid = DataLoader(TensorDataset(usage[128:], left[128:]), batch_size=128)

model = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 2))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)

for epoch in range(EPOCHS):
    model.train()
    for x, y in train:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
    model.eval()
    total = 0.0
    with torch.no_grad():
        for x, y in valid:
            total += criterion(model(x), y).item()
    print(f"epoch {epoch}: train {loss.item():.4f}, validation {total / len(valid):.4f}")
