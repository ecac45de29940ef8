"""Vibration of a mill, with a warm-up by epochs."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(21)
signal = torch.randn(480, 12)
wear = torch.tanh(signal[:, :3]).sum(1, keepdim=True) + 0.05 * torch.randn(480, 1)
loader = DataLoader(TensorDataset(signal, wear), batch_size=24, shuffle=True)
model = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
warmup = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: 1.0 if epoch > 0 else 1e-3)
start_epoch = 0

for epoch in range(start_epoch, start_epoch + 6):
    total = 0.0
    for features, target in loader:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(features), target)
        loss.backward()
        optimizer.step()
        total += loss.item()
    warmup.step(epoch + 1)
    print(f"epoch {epoch} loss {total / len(loader):.4f}")
