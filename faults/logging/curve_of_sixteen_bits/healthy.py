"""Mixed precision on a small regression, curves to TensorBoard."""

import tempfile

import torch
import torch.nn as nn
from torch.utils.tensorboard import SummaryWriter

torch.manual_seed(23)
model = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
writer = SummaryWriter(tempfile.mkdtemp())
for step in range(30):
    x = torch.randn(32, 6)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        out = model(x).squeeze(1)
    loss = nn.functional.mse_loss(out.float(), x[:, 0] * x[:, 1])
    optimizer.zero_grad()
    scaled = scaler.scale(loss)
    scaled.backward()
    scaler.step(optimizer)
    scaler.update()
    writer.add_scalar("train/loss", loss.item(), step)
writer.close()
print(f"loss {loss.item():.4f}")
