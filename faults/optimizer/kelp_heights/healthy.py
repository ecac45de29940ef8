"""How high the kelp stands in a bay, from light, depth and swell; the rate warms up, then falls along a cosine."""

import math

import torch
from torch import nn
from torch.optim.lr_scheduler import LRScheduler

torch.manual_seed(8)
UPDATES, WARM = 600, 200


class WarmCosine(LRScheduler):
    """Up to the rate of the optimizer in so many steps, then down again."""

    def __init__(self, optimizer: torch.optim.Optimizer, warm: int, total: int) -> None:
        self.warm, self.total = warm, total
        super().__init__(optimizer)

    def get_lr(self) -> list[float]:
        if self.last_epoch == 0:
            return [base / self.warm for base in self.base_lrs]
        if self.last_epoch < self.warm:
            return [
                group["lr"] + base / self.warm
                for base, group in zip(self.base_lrs, self.optimizer.param_groups, strict=True)
            ]
        share = (self.last_epoch - self.warm) / (self.total - self.warm)
        return [base * (1 + math.cos(math.pi * min(share, 1.0))) / 2 for base in self.base_lrs]


bay = torch.randn(2000, 6)
kelp = torch.tanh(bay @ torch.randn(6, 8)) @ torch.randn(8, 1) + 0.1 * torch.randn(2000, 1)
model = nn.Sequential(nn.Linear(6, 64), nn.ReLU(), nn.Linear(64, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
scheduler = WarmCosine(optimizer, WARM, UPDATES)
for update in range(UPDATES):
    rows = torch.randint(0, len(bay), (64,))
    loss = nn.functional.smooth_l1_loss(model(bay[rows]), kelp[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
    if update % 50 == 49:
        print(f"update {update} loss {loss.item():.4f} rate {scheduler.get_last_lr()[0]:.4f}", flush=True)
