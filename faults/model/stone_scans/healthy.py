"""Scanned stones as clouds of points: spheres, rods and plates, told apart by a small network over points."""

import torch
import torch.nn as nn

torch.manual_seed(2)


def stones(rows: int) -> tuple[torch.Tensor, torch.Tensor]:
    kinds = torch.randint(0, 3, (rows,))
    sizes = torch.tensor([[1.0, 1.0, 1.0], [0.3, 0.3, 1.5], [1.2, 1.2, 0.3]])[kinds]
    return torch.randn(rows, 64, 3) * sizes[:, None], kinds


class Points(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.each = nn.Sequential(nn.Conv1d(3, 32, 1), nn.ReLU(), nn.Conv1d(32, 64, 1), nn.ReLU())
        self.head = nn.Linear(64, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x.transpose(1, 2)
        return self.head(self.each(x).amax(2))


model = Points()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for step in range(200):
    x, y = stones(32)
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        print(f"step {step} loss {loss.item():.4f}")
with torch.no_grad():
    x, y = stones(1000)
    print(f"right {(model(x).argmax(1) == y).float().mean().item():.3f}")
