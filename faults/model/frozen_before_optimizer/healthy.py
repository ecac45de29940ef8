"""Soil types from spectra: the encoder was trained before, a new head goes on top."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(31)
spectra = torch.randn(480, 24)
soil = (spectra @ torch.randn(24, 5)).argmax(1)
encoder = nn.Sequential(nn.Linear(24, 64), nn.GELU())
head = nn.Linear(64, 5)
model = nn.Sequential(encoder, head)
for p in encoder.parameters():
    p.requires_grad = False
offset = nn.Parameter(torch.zeros(5))
optimizer = torch.optim.AdamW([*head.parameters(), offset], lr=3e-3)
criterion = nn.CrossEntropyLoss()
for epoch in range(3):
    for x, y in DataLoader(TensorDataset(spectra, soil), batch_size=32, shuffle=True):
        loss = criterion(model(x) + offset, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
