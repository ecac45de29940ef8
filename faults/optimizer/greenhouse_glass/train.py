"""Moisture in a greenhouse from its sensors; the rate falls when the error of validation stands still."""

import torch
from torch import nn

torch.manual_seed(63)


def rows(count, seed):
    g = torch.Generator().manual_seed(seed)
    sensors = torch.randn(count, 14, generator=g)
    moisture = torch.sin(sensors[:, :1] * 2) + sensors[:, 1:2] * sensors[:, 2:3] + 0.5 * sensors[:, 3:4]
    return sensors, moisture + 0.05 * torch.randn(count, 1, generator=g)


sensors, moisture = rows(1500, 1)
checked, wanted = rows(300, 2)
model = nn.Sequential(nn.Linear(14, 64), nn.SiLU(), nn.Linear(64, 64), nn.SiLU(), nn.Linear(64, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, "max", factor=0.3, patience=2)
for epoch in range(18):
    for batch in torch.randperm(1500).split(50):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(sensors[batch]), moisture[batch])
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        error = (model(checked) - wanted).abs().mean()
    plateau.step(error)
    print(f"epoch {epoch} loss {loss.item():.4f} error {error.item():.4f} rate {plateau.get_last_lr()[0]:.1e}")
