"""Two kinds of engine noise, validated after every epoch."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(9)
noise = torch.randn(200, 1, 20)
kind = (noise[:, 0, ::2].sum(1) > noise[:, 0, 1::2].sum(1)).long()
train_loader = DataLoader(TensorDataset(noise[:160], kind[:160]), batch_size=16, shuffle=True)
model = nn.Sequential(nn.Conv1d(1, 8, 5), nn.BatchNorm1d(8), nn.ReLU(), nn.Flatten(), nn.Dropout(0.4), nn.Linear(128, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)


def accuracy():
    model.eval()
    with torch.no_grad():
        right = (model(noise[160:]).argmax(1) == kind[160:]).float().mean().item()
    model.train()
    return right


model.train()
for epoch in range(4):
    for x, y in train_loader:
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f} accuracy {accuracy():.3f}")
