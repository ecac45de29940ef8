"""Sixteen code words for the tones of a bell: an encoder, a table of codes and a decoder."""

import torch
from torch import nn


class Codes(nn.Module):
    def __init__(self, words=16, width=6):
        super().__init__()
        self.table = nn.Embedding(words, width)
        nn.init.normal_(self.table.weight, std=0.3)

    def forward(self, z):
        nearest = torch.cdist(z, self.table.weight).argmin(1)
        q = self.table(nearest)
        apart = (q - z.detach()).square().mean() + 0.25 * (z - q.detach()).square().mean()
        return z + (q - z).detach(), apart


class Bell(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(24, 32), nn.Tanh(), nn.Linear(32, 6))
        self.codes = Codes()
        self.decoder = nn.Sequential(nn.Linear(6, 32), nn.Tanh(), nn.Linear(32, 24))

    def forward(self, x):
        coded, apart = self.codes(self.encoder(x))
        return self.decoder(coded), apart


torch.manual_seed(1)
pitch = torch.rand(1600, 1) * 2 + 1
tones = torch.sin(pitch * torch.arange(24.0) / 3)
model = Bell()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(12):
    for rows in torch.randperm(1600).split(50):
        x = tones[rows]
        heard, apart = model(x)
        loss = nn.functional.mse_loss(heard, x) + apart
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
with torch.no_grad():
    print(f"error of the tones {nn.functional.mse_loss(model(tones)[0], tones).item():.4f}")
