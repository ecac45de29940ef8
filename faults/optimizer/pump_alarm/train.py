"""Vibration of a pump: an encoder learns to rebuild it, a head to raise the alarm."""

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(13)
x = torch.randn(640, 12)
alarm = (x[:, 0] * x[:, 1] > 0.2).float()
loader = DataLoader(TensorDataset(x, alarm), batch_size=16, shuffle=True)
encoder = nn.Sequential(nn.Linear(12, 16), nn.Tanh())
decoder = nn.Linear(16, 12)
head = nn.Linear(16, 1)
slow = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=1e-3)
fast = torch.optim.Adam(head.parameters(), lr=1e-2)
for epoch in range(3):
    total = 0.0
    for signal, label in loader:
        slow.zero_grad()
        fast.zero_grad()
        code = encoder(signal)
        with torch.no_grad():
            score = head(code)[:, 0]
        miss = nn.functional.binary_cross_entropy_with_logits(score, label)
        loss = nn.functional.mse_loss(decoder(code), signal) + miss
        loss.backward()
        slow.step()
        fast.step()
        total += loss.item()
    print(f"epoch {epoch} loss {total / len(loader):.4f}")
