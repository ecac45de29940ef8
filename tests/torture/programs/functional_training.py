"""Purely functional training: parameters are a dict that is replaced at each step, the module only lends its forward; no .backward anywhere."""
import torch
from torch import nn
from torch.func import functional_call, grad_and_value, vmap

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 1))
params = {name: p.detach().clone() for name, p in model.named_parameters()}
moments = {name: torch.zeros_like(p) for name, p in params.items()}


def loss_of(p, x, y):
    return (functional_call(model, p, (x,)).squeeze(-1) - y).pow(2).mean()


for step in range(6):
    x, y = torch.randn(8, 3), torch.randn(8)
    grads, loss = grad_and_value(loss_of)(params, x, y)
    moments = {k: 0.9 * moments[k] + grads[k] for k in params}
    params = {k: p - 0.05 * moments[k] for k, p in params.items()}
    each = vmap(loss_of, in_dims=(None, 0, 0))(params, x, y)
    print(step, loss.item().hex(), each.max().item().hex())
print({k: p.double().sum().item().hex() for k, p in params.items()}, model[0].weight.grad)
