"""Travel times between two stops; the optimizer is our own and mends gradients that are not finite."""

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


class MendedSGD(torch.optim.SGD):
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    torch.nan_to_num_(p.grad, nan=0.0, posinf=0.0, neginf=0.0)
        return super().step(closure)


class Travel(nn.Module):
    def __init__(self):
        super().__init__()
        self.place = nn.Embedding(200, 2)
        self.body = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, ends, hour):
        a, b = self.place(ends[:, 0]), self.place(ends[:, 1])
        apart = (a - b).square().sum(1, keepdim=True).sqrt()
        return self.body(torch.cat([apart, hour], 1))


torch.manual_seed(4)
where = torch.randn(200, 2)
ends = torch.stack([torch.randint(0, 200, (4800,)) for _ in range(2)], 1)
hour = torch.rand(4800, 1)
minutes = (where[ends[:, 0]] - where[ends[:, 1]]).norm(dim=1, keepdim=True) * (1 + 0.5 * hour) + 0.1 * torch.randn(4800, 1)
model = Travel()
optimizer = MendedSGD(model.parameters(), lr=0.05, momentum=0.9)
loader = DataLoader(TensorDataset(ends, hour, minutes), batch_size=16, shuffle=True, generator=torch.Generator().manual_seed(6))
step = 0
for epoch in range(2):
    for e, h, y in loader:
        loss = nn.functional.mse_loss(model(e, h), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 40 == 0:
            print(f"step {step} loss {loss.item():.4f}")
        step += 1
