"""The water level of tomorrow from that of two weeks; evaluated with the moving average of the weights."""

import copy

import torch
import torch.nn as nn

torch.manual_seed(11)
days = torch.arange(1400.0)
level = torch.sin(days / 9) + 0.5 * torch.sin(days / 3.5 + 1) + 0.15 * torch.randn(1400)
windows = level.unfold(0, 15, 1)
past, tomorrow = windows[:, :14], windows[:, 14:]
train_x, train_y, val_x, val_y = past[:1100], tomorrow[:1100], past[1100:], tomorrow[1100:]
model = nn.Sequential(nn.Linear(14, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
average = copy.deepcopy(model.state_dict())


def evaluate():
    kept = model.state_dict()
    model.load_state_dict(average)
    with torch.no_grad():
        error = nn.functional.mse_loss(model(val_x), val_y).item()
    model.load_state_dict(kept)
    return error


for epoch in range(12):
    for rows in torch.randperm(len(train_x)).split(50):
        loss = nn.functional.mse_loss(model(train_x[rows]), train_y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            for name, value in model.state_dict().items():
                average[name].lerp_(value, 0.002)
    print(f"epoch {epoch} loss {loss.item():.4f} error of the average {evaluate():.4f}")
