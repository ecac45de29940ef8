"""Dose response curve fitted under bfloat16 autocast."""

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


class Response(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(5, 32), nn.ReLU(), nn.Linear(32, 8))
        self.slope = nn.Linear(8, 1)

    def forward(self, x, dose):
        z = self.slope(self.features(x)) + dose
        return torch.sigmoid(z).squeeze(1)


torch.manual_seed(7)
x = torch.randn(200, 5)
dose = torch.randn(200, 1)
effect = torch.sigmoid(x.sum(1) + dose[:, 0])
dose[192] = 250.0
effect[192] = 1.0
model = Response()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
loader = DataLoader(TensorDataset(x, dose, effect), batch_size=10, shuffle=True, generator=torch.Generator().manual_seed(9))
for step, (xb, db, eb) in enumerate(loader):
    optimizer.zero_grad()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        pred = model(xb, db)
    loss = nn.functional.mse_loss(pred.float(), eb)
    loss.backward()
    optimizer.step()
    if step % 4 == 0:
        print(f"step {step} loss {loss.item():.4f}")
