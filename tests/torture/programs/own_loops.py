"""No optimizer at all (parameters written by hand), backward of several tensors, set_grad_enabled, inference mode, retain_grad."""
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
for step in range(4):
    h = model[0](torch.randn(5, 3))
    h.retain_grad()
    out = model[2](model[1](h))
    torch.autograd.backward([out[:, 0].sum(), out[:, 1].pow(2).sum()], [torch.tensor(1.0), torch.tensor(0.5)])
    with torch.no_grad():
        for p in model.parameters():
            p -= 0.05 * p.grad
            p.grad = None
    with torch.inference_mode():
        value = model(torch.ones(1, 3)).sum()
    with torch.set_grad_enabled(step % 2 == 0):
        again = model(torch.ones(2, 3)).sum()
    print(step, value.item().hex(), again.requires_grad, h.grad.abs().sum().item().hex())
