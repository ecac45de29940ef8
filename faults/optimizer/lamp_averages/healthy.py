"""Life of a lamp from its first hours; an average of the weights is kept beside them."""

import copy

import torch
from torch import nn

torch.manual_seed(12)


class Average:
    """Follows a model; for the first steps it is a plain copy."""

    def __init__(self, keep=0.99, start=60):
        self.keep, self.start, self.count = keep, start, 0

    def update(self, average, model):
        self.count += 1
        if self.count <= self.start:
            average.load_state_dict(model.state_dict())
            return
        with torch.no_grad():
            for kept, new in zip(average.parameters(), model.parameters(), strict=True):
                kept.lerp_(new, 1 - self.keep)


g = torch.Generator().manual_seed(4)
hours = torch.randn(1600, 10, generator=g)
life = (hours[:, :2].sin() + 0.5 * hours[:, 2:4] * hours[:, 4:6]).sum(1, keepdim=True)
model = nn.Sequential(nn.Linear(10, 48), nn.SiLU(), nn.Linear(48, 48), nn.SiLU(), nn.Linear(48, 1))
smooth = copy.deepcopy(model).requires_grad_(False)
average = Average()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
for step in range(60):
    rows = torch.randint(1600, (64,), generator=g)
    loss = nn.functional.mse_loss(model(hours[rows]), life[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    average.update(smooth, model)
    if step % 10 == 9:
        print(f"step {step} loss {loss.item():.4f}")
