"""Water levels; the rate falls with the root of the step and starts again every 240 steps."""

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(7)
rain = torch.randn(7200, 8)
level = torch.tanh(rain @ torch.randn(8, 1)) + 0.5 * torch.randn(7200, 1)
model = nn.Sequential(nn.Linear(8, 48), nn.ReLU(), nn.Linear(48, 48), nn.ReLU(), nn.Linear(48, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: max((step + 1) % 240, 1) ** -0.5)
loader = DataLoader(TensorDataset(rain, level), batch_size=16, shuffle=True, generator=torch.Generator().manual_seed(1))
for step, (x, y) in enumerate(loader):
    loss = nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    schedule.step()
    if step % 40 == 0:
        print(f"step {step} loss {loss.item():.4f} rate {schedule.get_last_lr()[0]:.4g}")
