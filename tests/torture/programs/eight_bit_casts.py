"""Float8 casts with a straight-through estimator, scaled storage, bfloat16 master copies of float64 layers, dtype-changing modules mid-run."""
import torch
from torch import nn


class Through(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, kind):
        scale = torch.finfo(kind).max / x.abs().amax().clamp(min=1e-12)
        return (x * scale).to(kind).to(x.dtype) / scale

    @staticmethod
    def backward(ctx, grad):
        return grad.to(torch.float8_e5m2).to(grad.dtype), None


torch.manual_seed(0)
first, second, third = nn.Linear(4, 8), nn.Linear(8, 8, dtype=torch.float64), nn.Linear(8, 1, dtype=torch.bfloat16)
master = [p.detach().float().clone().requires_grad_() for p in third.parameters()]
optimizer = torch.optim.SGD([*first.parameters(), *second.parameters(), *master], lr=0.05)
stored = []
for step in range(5):
    x = torch.randn(6, 4)
    h = Through.apply(nn.functional.linear(x, Through.apply(first.weight, torch.float8_e4m3fn), first.bias), torch.float8_e4m3fn)
    stored.append(h.detach().to(torch.float8_e5m2))
    out = third(second(h.relu().double()).to(torch.bfloat16))
    loss = (out.float() - 1).pow(2).mean()
    optimizer.zero_grad()
    third.zero_grad()
    loss.backward()
    for p, m in zip(third.parameters(), master, strict=True):
        m.grad = p.grad.float()
    optimizer.step()
    with torch.no_grad():
        for p, m in zip(third.parameters(), master, strict=True):
            p.copy_(m)
    print(step, loss.item().hex(), stored[-1].view(torch.uint8).sum().item(), out.dtype)
first.half()
second.float()
print(first.weight.dtype, second(first(torch.ones(1, 4).half()).float()).sum().item().hex(), torch.stack([s.float().sum() for s in stored]).tolist())
