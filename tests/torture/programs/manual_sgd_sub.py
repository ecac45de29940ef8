"""No optimizer, three spellings by hand: p.data -= lr * p.grad, p.sub_ under no_grad, and torch._foreach_add_ on a list."""
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
params = list(model.parameters())
velocity = [torch.zeros_like(p) for p in params]
for step in range(9):
    loss = (model(torch.randn(6, 3)) - 1).pow(2).mean()
    model.zero_grad()
    loss.backward()
    if step % 3 == 0:
        for p in params:
            p.data -= 0.05 * p.grad
    elif step % 3 == 1:
        with torch.no_grad():
            for p, v in zip(params, velocity, strict=True):
                v.mul_(0.9).add_(p.grad)
                p.sub_(0.05 * v)
    else:
        torch._foreach_add_([p.data for p in params], [p.grad for p in params], alpha=-0.05)
    print(step, loss.item().hex(), [p._version for p in params])
print([p.double().sum().item().hex() for p in params])
