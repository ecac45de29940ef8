"""Which of six flowers grows on a plot of a meadow; the share of right answers is printed after each round."""

import torch
from torch import nn

torch.manual_seed(8)
FLOWERS, WIDTH = 6, 12
CENTRES = torch.randn(FLOWERS, WIDTH)


def plots(count):
    flower = torch.randint(FLOWERS, (count,))
    return CENTRES[flower] + 0.8 * torch.randn(count, WIDTH), flower


seen, flower = plots(960)
new, new_flower = plots(400)
model = nn.Sequential(nn.Linear(WIDTH, 32), nn.ReLU(), nn.Linear(32, FLOWERS))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)


def share_of_right_answers():
    right = 0
    with torch.no_grad():
        for rows in torch.arange(len(new)).split(80):
            answer = model(new[rows]).argmax(dim=1, keepdim=True)
            right += (answer == new_flower[rows]).sum().item()
    return right / len(new)


for turn in range(5):
    for rows in torch.randperm(len(seen)).split(32):
        loss = nn.functional.cross_entropy(model(seen[rows]), flower[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"round {turn} loss {loss.item():.4f} right {share_of_right_answers():.3f}")
