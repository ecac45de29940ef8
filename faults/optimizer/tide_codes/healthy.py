"""Codes of tide gauges, with a variational autoencoder."""

import torch
from torch import nn

torch.manual_seed(9)
tides = torch.sin(torch.linspace(0, 6, 24) + 6 * torch.rand(1024, 1)) + 0.05 * torch.randn(1024, 24)
encoder = nn.Sequential(nn.Linear(24, 48), nn.ReLU(), nn.Linear(48, 8))
decoder = nn.Sequential(nn.Linear(4, 48), nn.ReLU(), nn.Linear(48, 24))
optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=5e-3)

for step in range(160):
    batch = tides[torch.randint(1024, (64,))]
    mean, log_variance = encoder(batch).chunk(2, dim=1)
    code = mean + torch.randn_like(mean) * (log_variance / 2).exp()
    distance = (decoder(code) - batch).square().sum() / 64
    divergence = -0.5 * (1 + log_variance - mean.square() - log_variance.exp()).sum() / 64
    loss = distance + divergence
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 40 == 39:
        print(f"step {step + 1} distance {distance.item():.4g} divergence {divergence.item():.4g}")
