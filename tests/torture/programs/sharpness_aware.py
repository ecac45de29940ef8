"""SAM: two forward-backward passes per update, the weights moved uphill in between and put back, batch norm frozen in the second."""
import torch
from torch import nn


class Sam(torch.optim.Optimizer):
    def __init__(self, params, base, rho=0.05, **words):
        super().__init__(params, {"rho": rho, **words})
        self.base = base(self.param_groups, **words)
        self.param_groups = self.base.param_groups

    @torch.no_grad()
    def first_step(self, zero_grad=False):
        scale = torch.stack([p.grad.norm() for g in self.param_groups for p in g["params"]]).norm() + 1e-12
        for group in self.param_groups:
            for p in group["params"]:
                self.state[p]["old"] = p.data.clone()
                p.add_(p.grad * (group["rho"] / scale))
        if zero_grad:
            self.zero_grad()

    @torch.no_grad()
    def second_step(self, zero_grad=False):
        for group in self.param_groups:
            for p in group["params"]:
                p.data = self.state[p]["old"]
        self.base.step()
        if zero_grad:
            self.zero_grad()

    @torch.no_grad()
    def step(self, closure=None):
        closure = torch.enable_grad()(closure)
        self.first_step(zero_grad=True)
        loss = closure()
        self.second_step()
        return loss


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 6), nn.BatchNorm1d(6), nn.ReLU(), nn.Linear(6, 1))
optimizer = Sam(model.parameters(), torch.optim.SGD, rho=0.1, lr=0.05, momentum=0.9)
for step in range(5):
    x, y = torch.randn(8, 4), torch.randn(8, 1)
    loss = (model(x) - y).pow(2).mean()
    loss.backward()

    def again(x=x, y=y):
        model[1].momentum = 0
        second = (model(x) - y).pow(2).mean()
        second.backward()
        model[1].momentum = 0.1
        return second

    if step % 2:
        second = optimizer.step(again)
    else:
        optimizer.first_step(zero_grad=True)
        second = again()
        optimizer.second_step()
    optimizer.zero_grad()
    print(step, loss.item().hex(), second.item().hex(), sum(p.double().sum().item() for p in model.parameters()).hex())
