"""How long a lamp burns, from its fuel, wick and draught; in mixed precision where there is a GPU."""

import torch
from torch import nn

torch.manual_seed(4)
lamps = torch.randn(640, 9)
burns = torch.sin(2 * lamps[:, :1]) * lamps[:, 1:2] + 0.1 * torch.randn(640, 1)
device = "cuda" if torch.cuda.is_available() else "cpu"
model = nn.Sequential(nn.Linear(9, 64), nn.ReLU(), nn.Linear(64, 1)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
scaler = torch.amp.GradScaler(device, enabled=device == "cuda")
for turn in range(8):
    for rows in torch.randperm(640).split(32):
        optimizer.zero_grad()
        with torch.autocast(device, enabled=device == "cuda"):
            loss = nn.functional.mse_loss(model(lamps[rows].to(device)), burns[rows].to(device))
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        optimizer.step()
    print(f"turn {turn} loss {loss.item():.4f}")
