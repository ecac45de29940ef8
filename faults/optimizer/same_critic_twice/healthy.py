"""Points on a ring from noise: a generator and a critic, an optimizer each."""

import torch
from torch import nn

torch.manual_seed(12)


def network(inputs, outputs):
    return nn.Sequential(nn.Linear(inputs, 32), nn.ReLU(), nn.Linear(32, outputs))


painter, judge = network(4, 2), network(2, 1)
painter_optimizer = torch.optim.Adam(painter.parameters(), lr=2e-3, betas=(0.5, 0.999))
judge_optimizer = torch.optim.Adam(judge.parameters(), lr=2e-3, betas=(0.5, 0.999))
criterion = nn.BCEWithLogitsLoss()
real, made = torch.ones(64, 1), torch.zeros(64, 1)
for step in range(120):
    angle = 6.2832 * torch.rand(64)
    ring = torch.stack([angle.cos(), angle.sin()], 1)
    picture = painter(torch.randn(64, 4))
    judge_optimizer.zero_grad()
    judge_loss = criterion(judge(ring), real) + criterion(judge(picture.detach()), made)
    judge_loss.backward()
    judge_optimizer.step()
    painter_optimizer.zero_grad()
    painter_loss = criterion(judge(picture), real)
    painter_loss.backward()
    painter_optimizer.step()
    if step % 40 == 0:
        print(f"step {step} judge {judge_loss.item():.4f} painter {painter_loss.item():.4f}")
