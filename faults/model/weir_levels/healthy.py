"""The level above a weir, in metres from its crest, from rain and the levels upstream."""

import torch
from torch import nn

torch.manual_seed(5)


class Weir(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(6, 32), nn.ReLU())
        self.head = nn.Linear(32, 1)

    def forward(self, rain):
        level = self.head(self.body(rain))
        return level.squeeze(1)


rain = torch.randn(480, 6)
levels = 2.0 * rain[:, 0] + rain[:, 1] * rain[:, 2] + 1.5
model = Weir()
criterion = nn.SmoothL1Loss()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(5):
    for start in range(0, 480, 32):
        loss = criterion(model(rain[start : start + 32]), levels[start : start + 32])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
