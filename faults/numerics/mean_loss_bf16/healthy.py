"""Next hour of a load curve, trained in bfloat16; the mean loss is printed at the end."""
import torch
from torch import nn

torch.manual_seed(2)
DTYPE = torch.float32
hours = torch.arange(4000) / 24
load = torch.sin(2 * torch.pi * hours) + 0.5 * torch.sin(2 * torch.pi * hours / 7) + 0.85 * torch.randn(4000)
model = nn.Sequential(nn.Linear(48, 64), nn.ReLU(), nn.Linear(64, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
total = torch.zeros((), dtype=DTYPE)
steps = 520
for step in range(steps):
    begin = torch.randint(0, 3900, (128,))
    x = load[begin[:, None] + torch.arange(48)]
    y = load[begin + 48]
    with torch.autocast("cpu", dtype=torch.bfloat16):
        predicted = model(x).squeeze(1)
    loss = ((predicted.float() - y) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    total += loss.detach().to(DTYPE)
print(f"mean loss {total.item() / steps:.3f}")
