"""Height profiles of sanded boards, made up by a small network that takes noise off step by step."""

import torch
from torch import nn

torch.manual_seed(8)
STEPS, POINTS = 40, 32
place = torch.linspace(0, 6.28, POINTS)
boards = torch.sin(place * torch.randint(1, 4, (2000, 1)) + 6.28 * torch.rand(2000, 1))
kept = torch.cumprod(1 - torch.linspace(1e-3, 0.2, STEPS), 0)
beta = 1 - kept / torch.cat([torch.ones(1), kept[:-1]])


class Cleaner(nn.Module):
    def __init__(self):
        super().__init__()
        self.when = nn.Embedding(STEPS, 64)
        self.first, self.rest = nn.Linear(POINTS, 64), nn.Sequential(nn.SiLU(), nn.Linear(64, 64), nn.SiLU())
        self.last = nn.Linear(64, POINTS)

    def forward(self, rough, at):
        return self.last(self.rest(self.first(rough) + self.when(at)))


cleaner = Cleaner()
optimizer = torch.optim.Adam(cleaner.parameters(), lr=2e-3)
for step in range(600):
    clean = boards[torch.randint(0, len(boards), (64,))]
    at = torch.randint(0, STEPS, (64,))
    grit = torch.randn(64, POINTS)
    share = kept[at].unsqueeze(1)
    rough = share.sqrt() * clean + (1 - share).sqrt() * grit
    loss = nn.functional.mse_loss(cleaner(rough, at), grit)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 100 == 99:
        print(f"step {step} loss {loss.item():.4f}")

with torch.no_grad():
    made = torch.randn(128, POINTS)
    for at in reversed(range(STEPS)):
        grit = cleaner(made, torch.full((128,), at))
        made = (made - beta[at] / (1 - kept[at]).sqrt() * grit) / (1 - beta[at]).sqrt()
        if at:
            made = made + beta[at].sqrt() * torch.randn(128, POINTS)
print(f"made: mean {made.mean():.3f} deviation {made.std():.3f}, of boards {boards.std():.3f}")
