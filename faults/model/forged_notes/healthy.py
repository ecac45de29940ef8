"""Bank notes and forged ones, drawn by a generator against a judge."""

import torch
from torch import nn

torch.manual_seed(6)
notes = torch.randn(512, 6) @ torch.randn(6, 6) + 1.0
maker = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 6))
judge = nn.Sequential(nn.Linear(6, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))
makes = torch.optim.Adam(maker.parameters(), lr=1e-3)
judges = torch.optim.Adam(judge.parameters(), lr=1e-3)
criterion = nn.BCEWithLogitsLoss()

for step in range(150):
    real = notes[torch.randint(512, (32,))]
    forged = maker(torch.randn(32, 4))
    genuine = torch.ones(32, 1)
    false = torch.zeros(32, 1)
    judged = criterion(judge(real), genuine) + criterion(judge(forged.detach()), false)
    judges.zero_grad()
    judged.backward()
    judges.step()
    loss = criterion(judge(forged), genuine)
    makes.zero_grad()
    loss.backward()
    makes.step()
    if step % 50 == 49:
        print(f"step {step + 1} judge {judged.item():.4f} maker {loss.item():.4f}")
