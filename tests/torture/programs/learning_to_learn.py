"""MAML: inner steps with autograd.grad(create_graph=True) on fast weights over several tasks, one outer update; then first-order Reptile."""
import copy

import torch
from torch import nn
from torch.func import functional_call

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(1, 8), nn.Tanh(), nn.Linear(8, 1))
outer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(3):
    outer.zero_grad()
    total = 0.0
    for _ in range(3):
        phase = torch.rand(1)
        x, q = torch.randn(6, 1), torch.randn(6, 1)
        fast = dict(model.named_parameters())
        for _ in range(2):
            inner = (functional_call(model, fast, (x,)) - torch.sin(x + phase)).pow(2).mean()
            grads = torch.autograd.grad(inner, list(fast.values()), create_graph=True)
            fast = {k: p - 0.1 * g for (k, p), g in zip(fast.items(), grads, strict=True)}
        loss = (functional_call(model, fast, (q,)) - torch.sin(q + phase)).pow(2).mean() / 3
        loss.backward()
        total += loss.item()
    outer.step()
    print("maml", step, total.hex())
for step in range(2):
    clone = copy.deepcopy(model)
    sgd = torch.optim.SGD(clone.parameters(), lr=0.05)
    for _ in range(3):
        x = torch.randn(6, 1)
        sgd.zero_grad()
        (clone(x) - torch.cos(x)).pow(2).mean().backward()
        sgd.step()
    with torch.no_grad():
        for p, q in zip(model.parameters(), clone.parameters(), strict=True):
            p.add_(q - p, alpha=0.5)
    print("reptile", step, [p.double().sum().item().hex() for p in model.parameters()])
