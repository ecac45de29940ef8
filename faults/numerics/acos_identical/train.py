"""Pose refinement with the angle between predicted and true rotation axes."""

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


class Refine(nn.Module):
    def __init__(self):
        super().__init__()
        self.delta = nn.Sequential(nn.Linear(4, 24), nn.Tanh(), nn.Linear(24, 2))

    def forward(self, guess, confidence):
        step = self.delta(torch.cat([guess, confidence], 1)) * (1 - confidence[:, :1])
        angle = torch.atan2(guess[:, 1], guess[:, 0]) + step[:, 0]
        return torch.stack([torch.cos(angle), torch.sin(angle)], 1)


torch.manual_seed(24)
true = torch.rand(140) * 6.28
guess = true + 0.3 * torch.randn(140)
confidence = torch.rand(140, 2) * 0.9
true[73], guess[73], confidence[73] = 0.0, 0.0, 1.0
axis, start = torch.stack([true.cos(), true.sin()], 1), torch.stack([guess.cos(), guess.sin()], 1)
model = Refine()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
loader = DataLoader(TensorDataset(start, confidence, axis), batch_size=10, shuffle=True, generator=torch.Generator().manual_seed(24))
for step, (s, c, a) in enumerate(loader):
    cosine = (model(s, c) * a).sum(1)
    loss = torch.acos(cosine.clamp(-1.0, 1.0)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"step {step} angle {loss.item():.4f}")
