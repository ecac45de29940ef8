"""A float16 layer between a large scale and its inverse, with a small loss."""
import torch
from torch import nn

torch.manual_seed(0)
DTYPE = torch.float32
inner = nn.Sequential(nn.Linear(32, 32)).to(DTYPE)
head = nn.Linear(32, 1)
optimizer = torch.optim.SGD([*inner.parameters(), *head.parameters()], lr=1e-2)
for step in range(60):
    x = torch.randn(32, 32)
    hidden = inner((x * 12000).to(DTYPE)).float() / 12000
    loss = 1e-7 * ((head(hidden).squeeze(1) - x[:, 0]) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        print(step, loss.item())
