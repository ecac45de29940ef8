"""How long a river takes to carry a pollutant past its gauges, from the shape of the reach and the flow of the day."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(31)


class Reaches(Dataset):
    def __init__(self, rivers: int) -> None:
        self.describe()
        self.rows, self.hours = [], []
        for _ in range(rivers):
            shape = torch.rand(120, 3) + 0.5
            flow = torch.randn(120, 1).exp()
            bed = self.roughness * torch.ones_like(flow)
            self.rows += [torch.cat([shape, flow, bed, self.width * torch.ones_like(flow)], 1)]
            self.hours += [shape[:, :1] / flow + 0.1 * torch.randn(120, 1)]
        self.rows, self.hours = torch.cat(self.rows), torch.cat(self.hours)

    def describe(self) -> None:
        # the same for all reaches
        self.width = 4.0
        self.roughness = 0.0

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, at: int) -> dict[str, torch.Tensor]:
        return {"reach": self.rows[at], "hours": self.hours[at]}


class Travel(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(6, 32), nn.Tanh(), nn.Linear(32, 1))

    def forward(self, reach: torch.Tensor) -> torch.Tensor:
        shape, flow = reach[:, :3], reach[:, 3:4]
        rough, width = reach[:, 4:5], reach[:, 5:6]
        speed = torch.tanh(flow) / rough
        return self.body(torch.cat([shape, flow.log1p(), speed, width.log()], 1))


data = Reaches(8)
model = Travel()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(4):
    for batch in DataLoader(data, batch_size=32, shuffle=True):
        loss = nn.functional.smooth_l1_loss(model(batch["reach"]), batch["hours"])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
