"""Rotation regression with a compiled model and a geodesic loss."""

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


class Directions(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(6, 32), nn.GELU(), nn.Linear(32, 3))

    def forward(self, x, target):
        pred = nn.functional.normalize(self.net(x) * (target != 0).any(1, keepdim=True), dim=-1)
        cosine = (pred * target).sum(-1)
        return torch.acos(cosine), torch.log(target.norm(dim=-1))


torch.manual_seed(20)
x = torch.randn(128, 6)
target = nn.functional.normalize(x[:, :3] + 0.3, dim=-1)
target[127] = 0.0
model = Directions()
fast = torch.compile(model, backend="aot_eager")
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
loader = DataLoader(TensorDataset(x, target), batch_size=8, shuffle=True, generator=torch.Generator().manual_seed(22))
for step, (xb, tb) in enumerate(loader):
    angle, scale = fast(xb, tb)
    loss = angle.mean() + 0.1 * scale.abs().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"step {step} loss {loss.item():.4f}")
