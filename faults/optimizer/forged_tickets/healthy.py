"""Patterns of tram tickets: a generator and the network that tells its forgeries from real ones."""

import torch
from torch import nn

torch.manual_seed(5)
g = torch.Generator().manual_seed(9)
phase = 6.28 * torch.rand(1024, 1, generator=g)
tickets = torch.sin(torch.linspace(0, 6.28, 24) + phase) + 0.05 * torch.randn(1024, 24, generator=g)
forger = nn.Sequential(nn.Linear(8, 48), nn.ReLU(), nn.Linear(48, 24))
judge = nn.Sequential(nn.Linear(24, 48, bias=False), nn.LeakyReLU(0.2), nn.Linear(48, 1))
forger_optimizer = torch.optim.Adam(forger.parameters(), lr=1e-3, betas=(0.5, 0.999))
judge_optimizer = torch.optim.Adam(judge.parameters(), lr=1e-3, betas=(0.5, 0.999))
criterion = nn.MSELoss()
real, forged = torch.ones(64, 1), torch.zeros(64, 1)
for epoch in range(8):
    for rows in torch.randperm(1024, generator=g).split(64):
        forger_optimizer.zero_grad()
        made = forger(torch.randn(64, 8, generator=g))
        forger_loss = criterion(judge(made), real)
        forger_loss.backward()
        forger_optimizer.step()

        judge_optimizer.zero_grad()
        judge_loss = (criterion(judge(tickets[rows]), real) + criterion(judge(made.detach()), forged)) / 2
        judge_loss.backward()
        judge_optimizer.step()
    print(f"epoch {epoch} forger {forger_loss.item():.4f} judge {judge_loss.item():.4f}")
