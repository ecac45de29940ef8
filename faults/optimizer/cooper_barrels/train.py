"""How much a barrel of a cooperage will leak in a year, from what is measured of its staves at the bench."""

import torch
from torch import nn

torch.manual_seed(3)
WIDTH = 20
WORTH = torch.randn(WIDTH) / WIDTH**0.5


def barrels(count):
    staves = torch.randn(count, WIDTH)
    return staves, (torch.sin(staves @ WORTH) + 0.1 * torch.randn(count)).unsqueeze(1)


bench, leak = barrels(1024)
new, new_leak = barrels(1000)
model = nn.Sequential(nn.Linear(WIDTH, 64), nn.Tanh(), nn.Linear(64, 1))


def learn(model, rows):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    loss = nn.functional.mse_loss(model(bench[rows]), leak[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


for turn in range(2):
    for rows in torch.randperm(len(bench)).split(16):
        loss = learn(model, rows)
with torch.no_grad():
    held = nn.functional.mse_loss(model(new), new_leak)
print(f"loss {loss:.4f} on new barrels {held.item():.4f}")
