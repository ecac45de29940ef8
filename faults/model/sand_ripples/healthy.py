"""Draws heights of sand along a beach, learned from measured ones as a flow from noise."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(6)
POINTS = 32
along = torch.linspace(0, 6.28, POINTS)
heights = torch.sin(torch.rand(2000, 1) * 6.28 + (1 + torch.randint(0, 3, (2000, 1))) * along)
heights = heights + 0.05 * torch.randn(2000, POINTS)


class Flow(nn.Module):
    def __init__(self):
        super().__init__()
        self.when = nn.Sequential(nn.Linear(1, 64), nn.SiLU(), nn.Linear(64, 64))
        self.inside, self.middle = nn.Linear(POINTS, 128), nn.Linear(192, 128)
        self.outside = nn.Linear(128, POINTS)

    def forward(self, x, time):
        h = torch.relu(self.inside(x))
        h = torch.relu(self.middle(torch.cat([h, self.when(time[:, None])], 1)))
        return self.outside(h)


model = Flow()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
loader = DataLoader(TensorDataset(heights), batch_size=32, shuffle=True, drop_last=True)
for epoch in range(8):
    for (sand,) in loader:
        time = torch.rand(len(sand))
        noise = torch.randn_like(sand)
        between = (1 - time[:, None]) * noise + time[:, None] * sand
        loss = (model(between, time) - (sand - noise)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")

with torch.no_grad():
    drawn = torch.randn(500, POINTS)
    for step in range(50):
        drawn = drawn + model(drawn, torch.full((500,), step / 50)) / 50
    nearest = torch.cdist(drawn, heights).min(1).values.mean()
print(f"distance to the nearest measured beach {nearest.item():.3f}")
