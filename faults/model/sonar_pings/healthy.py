"""Removes noise from sonar pings; the noise of each ping has a strength of its own."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(23)
g = torch.Generator().manual_seed(4)
delay = torch.rand(640, 1, generator=g)
pings = torch.sin(torch.linspace(0, 12, 32) + 6 * delay) * torch.exp(-3 * (torch.linspace(0, 1, 32) - delay) ** 2)
loader = DataLoader(TensorDataset(pings), batch_size=32, shuffle=True)
model = nn.Sequential(nn.Linear(33, 96), nn.SiLU(), nn.Linear(96, 96), nn.SiLU(), nn.Linear(96, 32))


class Denoiser(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, heard, strength):
        return self.inner(torch.cat([heard, strength], 1))


denoiser = Denoiser(model)
optimizer = torch.optim.Adam(denoiser.parameters(), lr=2e-3)
for epoch in range(8):
    for (ping,) in loader:
        noise = torch.randn_like(ping)
        strength = torch.rand(len(ping), 1)
        heard = (1 - strength) * ping + strength * noise
        loss = nn.functional.mse_loss(denoiser(heard, strength), noise)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
