"""How high a mountain river will stand over the next day, from the last two days."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Subset, TensorDataset

torch.manual_seed(6)
hours = torch.arange(1500.0)
flow = torch.zeros(1500)
for hour in range(1, 1500):
    flow[hour] = 0.97 * flow[hour - 1] + 0.25 * torch.randn(())
level = flow + torch.sin(hours * 2 * torch.pi / 24)
spans = level.unfold(0, 72, 1)
rivers = TensorDataset(spans[:, :48], spans[:, 48:])

chosen = list(range(len(rivers)))
held = len(rivers) // 5
later, earlier = chosen[-held:], chosen[: -held - 72]
gauges = DataLoader(Subset(rivers, earlier), batch_size=32, shuffle=True)
checked = DataLoader(Subset(rivers, later), batch_size=64)

model = nn.Sequential(nn.Linear(48, 64), nn.ReLU(), nn.Linear(64, 24))
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(12):
    model.train()
    for past, future in gauges:
        loss = nn.functional.mse_loss(model(past), future)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        missed = [nn.functional.mse_loss(model(past), future) for past, future in checked]
    print(f"epoch {epoch} loss {loss.item():.3f} held out {torch.stack(missed).mean():.3f}")
