"""Yields of fields from weather and soil; the weights of the best validation are loaded again at the end."""

import torch
import torch.nn as nn

torch.manual_seed(5)
truth = nn.Sequential(nn.Linear(12, 16), nn.Tanh(), nn.Linear(16, 1))
fields = torch.randn(400, 12)
with torch.no_grad():
    yields = truth(fields) + 0.3 * torch.randn(400, 1)
train_x, train_y, val_x, val_y = fields[:80], yields[:80], fields[80:], yields[80:]
model = nn.Sequential(nn.Linear(12, 128), nn.ReLU(), nn.Linear(128, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
best, best_state = float("inf"), None
for epoch in range(60):
    for rows in torch.randperm(80).split(16):
        loss = nn.functional.mse_loss(model(train_x[rows]), train_y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        val = nn.functional.mse_loss(model(val_x), val_y).item()
    if val < best:
        best, best_state = val, model.state_dict()
    if epoch % 10 == 0:
        print(f"epoch {epoch} validation {val:.4f} best {best:.4f}")
model.load_state_dict(best_state)
with torch.no_grad():
    print(f"restored: validation {nn.functional.mse_loss(model(val_x), val_y).item():.4f}, best was {best:.4f}")
