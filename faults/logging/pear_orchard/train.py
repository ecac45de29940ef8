"""Weight of a pear from nine measurements of its tree; the mean error of the trees held out chooses the epoch."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(5)
trees = torch.randn(800, 9)
weights = trees[:, :3].sum(1, keepdim=True).tanh() + 0.1 * torch.randn(800, 1)
grown = DataLoader(TensorDataset(trees[:600], weights[:600]), batch_size=30, shuffle=True)
others = TensorDataset(trees[600:], weights[600:])
held_out = DataLoader(others, batch_size=50)

model = nn.Sequential(nn.Linear(9, 32), nn.ReLU(), nn.Linear(32, 1))
weigh = nn.MSELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
best = float("inf")
errors = []
for season in range(8):
    model.train()
    for tree, weight in grown:
        loss = weigh(model(tree), weight)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    for tree, weight in held_out:
        with torch.no_grad():
            error = weigh(model(tree), weight)
        errors.append(error.item() * len(tree))
    mean = sum(errors) / len(others)
    best = min(best, mean)
    print(f"season {season} held out {mean:.4f} best {best:.4f}")
