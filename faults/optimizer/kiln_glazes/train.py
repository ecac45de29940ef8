"""The colour of a glaze from what is in it; a small network, with a warm-up over the first 30 batches."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(7)
mixed = torch.randn(1920, 10)
rule = nn.Sequential(nn.Linear(10, 24), nn.Tanh(), nn.Linear(24, 6))
with torch.no_grad():
    colour = (4 * rule(mixed)).argmax(1)
loader = DataLoader(TensorDataset(mixed, colour), batch_size=32, shuffle=True)
model = nn.Sequential(nn.Linear(10, 96), nn.ReLU(), nn.Linear(96, 96), nn.ReLU(), nn.Linear(96, 6))
optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda batch: (batch + 1) / 30)
for epoch in range(10):
    total = 0.0
    for x, y in loader:
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        total += loss.item() / len(loader)
    print(f"epoch {epoch} loss {total:.4f} rate {scheduler.get_last_lr()[0]:.3g}")
