"""How many points a wine gets, from eleven measurements of the cellar; the weights of the least error are kept."""

import copy

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(21)
measured = torch.randn(840, 11)
points = torch.tanh(measured[:, :4].sum(1) / 2) + 0.2 * torch.randn(840)
cellar = DataLoader(TensorDataset(measured[:640], points[:640]), batch_size=32, shuffle=True)
tasting = DataLoader(TensorDataset(measured[640:], points[640:]), batch_size=50)

model = nn.Sequential(nn.Linear(11, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
least = float("inf")
kept = copy.deepcopy(model.state_dict())
for year in range(7):
    model.train()
    for wine, score in cellar:
        loss = nn.functional.mse_loss(model(wine).squeeze(1), score)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        errors = [nn.functional.mse_loss(model(wine).squeeze(1), score).item() for wine, score in tasting]
    error = sum(errors) / len(errors)
    print(f"year {year} loss {loss.item():.4f} error {error:.4f}")
    if error < least:
        least = error
        kept = copy.deepcopy(model.state_dict())
model.load_state_dict(kept)
with torch.no_grad():
    print("kept", sum(nn.functional.mse_loss(model(w).squeeze(1), s).item() for w, s in tasting) / len(tasting))
