"""An optimizer with differentiable=True: the update itself is part of the graph and the learning rate gets a gradient."""
import torch

torch.manual_seed(0)
rate = torch.tensor(0.05, requires_grad=True)
outer = torch.optim.SGD([rate], lr=0.001)
for step in range(4):
    weight = torch.ones(3, requires_grad=True)
    fast = weight.clone()
    inner = torch.optim.SGD([fast], lr=rate, differentiable=True)
    for _ in range(3):
        loss = (fast * torch.randn(3)).sum().pow(2)
        fast.grad = torch.autograd.grad(loss, fast, create_graph=True)[0]
        inner.step()
    meta = fast.pow(2).sum()
    outer.zero_grad()
    meta.backward()
    print(step, meta.item().hex(), rate.grad.item().hex(), weight.grad.double().sum().item().hex())
    outer.step()
print(rate.item().hex())
