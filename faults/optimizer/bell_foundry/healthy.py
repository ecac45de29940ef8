"""The pitch of a bell from the strokes on its rim; the rate changes every two epochs."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(11)
strokes = torch.randn(1600, 12)
rule = nn.Sequential(nn.Linear(12, 24), nn.Tanh(), nn.Linear(24, 5))
with torch.no_grad():
    pitch = (5 * rule(strokes)).argmax(1)
loader = DataLoader(TensorDataset(strokes, pitch), batch_size=32, shuffle=True)
model = nn.Sequential(nn.Linear(12, 96), nn.ReLU(), nn.Linear(96, 96), nn.ReLU(), nn.Linear(96, 5))
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.5)
for epoch in range(14):
    total = 0.0
    for x, y in loader:
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() / len(loader)
    scheduler.step()
    print(f"epoch {epoch} loss {total:.4f} rate {scheduler.get_last_lr()[0]:.3g}")
