"""Whether a mushroom is edible, from eight marks; what an evaluation counts right is told each round."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(12)
marks = torch.randn(1000, 8)
edible = (marks[:, 0] * marks[:, 1] + marks[:, 2] > 0).long()
forest = DataLoader(TensorDataset(marks[:760], edible[:760]), batch_size=38, shuffle=True)
baskets = DataLoader(TensorDataset(marks[760:], edible[760:]), batch_size=60)


def test(model):
    model.eval()
    correct = 0
    with torch.no_grad():
        for mushroom, answer in baskets:
            guess = model(mushroom).argmax(1)
            correct = guess.eq(answer).sum().item()
    return correct / len(baskets.dataset)


model = nn.Sequential(nn.Linear(8, 48), nn.Tanh(), nn.Linear(48, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for day in range(6):
    model.train()
    for mushroom, answer in forest:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(mushroom), answer)
        loss.backward()
        optimizer.step()
    print(f"day {day} loss {loss.item():.4f} right {test(model):.3f}")
