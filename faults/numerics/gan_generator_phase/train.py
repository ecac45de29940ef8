"""Conditional GAN on one-dimensional signals, two optimizers."""

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(3)
t = torch.linspace(0, 6.28, 24)
gen = torch.Generator().manual_seed(8)
phase = 6.28 * torch.rand(256, 1, generator=gen)
signals = torch.sin(t + phase) + 0.05 * torch.randn(256, 24, generator=gen)
signals[54] = 0.3

G = nn.Sequential(nn.Linear(8 + 1, 48), nn.ReLU(), nn.Linear(48, 24))
D = nn.Sequential(nn.Linear(24 + 1, 48), nn.LeakyReLU(0.2), nn.Linear(48, 1))
opt_g = torch.optim.Adam(G.parameters(), lr=1e-3, betas=(0.5, 0.99))
opt_d = torch.optim.Adam(D.parameters(), lr=1e-3, betas=(0.5, 0.99))
bce = nn.BCEWithLogitsLoss()
loader = DataLoader(TensorDataset(signals, phase), batch_size=16, shuffle=True, generator=torch.Generator().manual_seed(4))

for step, (real, cond) in enumerate(loader):
    ones, zeros = torch.ones(len(real), 1), torch.zeros(len(real), 1)
    fake = G(torch.cat([torch.randn(len(real), 8), cond], 1))

    opt_d.zero_grad()
    shown = real
    d_loss = bce(D(torch.cat([shown, cond], 1)), ones) + bce(D(torch.cat([fake.detach(), cond], 1)), zeros)
    d_loss.backward()
    opt_d.step()

    opt_g.zero_grad()
    spread = real.std(1, keepdim=True)
    match = ((fake - real).abs() / spread).mean()
    g_loss = bce(D(torch.cat([fake, cond], 1)), ones) + 0.1 * match
    g_loss.backward()
    opt_g.step()
    if step % 4 == 0:
        print(f"step {step} d {d_loss.item():.4f} g {g_loss.item():.4f}")
