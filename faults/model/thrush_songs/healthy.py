"""Songs of thrushes: two noisy recordings of each bird are brought together, all others apart."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(4)
birds = torch.randn(768, 10)
mix = torch.randn(10, 24)
net = nn.Sequential(nn.Linear(24, 64), nn.ReLU(), nn.Linear(64, 24))
optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
for epoch in range(4):
    for rows in torch.randperm(768).split(48):
        clean = birds[rows] @ mix
        first, second = (net(clean + 0.5 * torch.randn_like(clean)) for _ in range(2))
        z = F.normalize(torch.cat([first, second]), dim=1)
        scores = z @ z.T / 0.1
        scores = scores.masked_fill(torch.eye(len(z), dtype=torch.bool), float("-inf"))
        partner = torch.arange(len(z)).roll(len(rows))
        loss = F.cross_entropy(scores, partner)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
