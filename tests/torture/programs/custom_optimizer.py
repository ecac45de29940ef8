"""Own subclass of Optimizer: extra positional arguments of step, a returned tuple, state on the optimizer, a step that calls super's."""
import torch
from torch import nn
from torch.optim import SGD, Optimizer


class Sign(Optimizer):
    def __init__(self, params, lr=1e-2, *, beta=0.9):
        super().__init__(params, {"lr": lr, "beta": beta})
        self.total = 0

    @torch.no_grad()
    def step(self, closure=None, boost=1.0):
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                state = self.state[p]
                average = state.setdefault("average", torch.zeros_like(p))
                p.add_((average * group["beta"] + p.grad * (1 - group["beta"])).sign(), alpha=-group["lr"] * boost)
                average.lerp_(p.grad, 1 - group["beta"])
                self.total += p.numel()
        return loss, self.total


class Twice(SGD):
    def step(self, closure=None):
        super().step()
        return super().step(closure)


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
sign, twice = Sign(model.parameters()), Twice(model.parameters(), lr=0.01)
for step in range(6):
    loss = (model(torch.randn(5, 3)) - 1).pow(2).mean()
    model.zero_grad()
    loss.backward()
    result = sign.step(boost=0.5) if step % 2 else twice.step()
    print(step, loss.item().hex(), result)
print(sign.step(lambda: model(torch.ones(1, 3)).sum(), 2.0)[0].item().hex(), [p.double().sum().item().hex() for p in model.parameters()])
