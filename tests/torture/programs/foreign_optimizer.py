"""An optimizer that is no torch.optim.Optimizer, and a wrapper (Lookahead) that pretends to be one by delegating attributes."""
import torch
from torch import nn


class Plain:
    def __init__(self, params, lr):
        self.params, self.lr = list(params), lr

    def zero_grad(self):
        for p in self.params:
            p.grad = None

    def step(self):
        with torch.no_grad():
            for p in self.params:
                p.copy_(p - self.lr * p.grad)


class Lookahead:
    def __init__(self, base, k=3, alpha=0.5):
        self.base, self.k, self.alpha, self.count = base, k, alpha, 0
        self.slow = [[p.detach().clone() for p in g["params"]] for g in base.param_groups]

    def __getattr__(self, name):
        return getattr(self.base, name)

    def step(self, closure=None):
        loss = self.base.step(closure)
        self.count += 1
        if self.count % self.k == 0:
            for group, slow in zip(self.base.param_groups, self.slow, strict=True):
                for p, s in zip(group["params"], slow, strict=True):
                    s.lerp_(p.detach(), self.alpha)
                    p.data.copy_(s)
        return loss


torch.manual_seed(0)
a, b = nn.Linear(3, 4), nn.Linear(4, 1)
plain, ahead = Plain(a.parameters(), 0.05), Lookahead(torch.optim.Adam(b.parameters(), lr=0.05))
scheduler = torch.optim.lr_scheduler.ExponentialLR(ahead.base, 0.9)
for step in range(7):
    loss = (b(a(torch.randn(5, 3)).tanh()) - 1).pow(2).mean()
    plain.zero_grad()
    ahead.zero_grad()
    loss.backward()
    plain.step()
    ahead.step()
    scheduler.step()
    print(step, loss.item().hex(), ahead.param_groups[0]["lr"], len(ahead.state))
print([p.double().sum().item().hex() for m in (a, b) for p in m.parameters()])
