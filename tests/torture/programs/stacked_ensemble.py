"""An ensemble trained in one go: stack_module_state, vmap over functional_call, jacrev and hessian of a small loss, randomness='different'."""
import copy

import torch
from torch import nn
from torch.func import functional_call, grad_and_value, hessian, jacfwd, jvp, stack_module_state, vmap

torch.manual_seed(0)
members = [nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Dropout(0.1), nn.Linear(4, 1)) for _ in range(3)]
params, buffers = stack_module_state(members)
base = copy.deepcopy(members[0]).to("meta")
optimizer = torch.optim.Adam(params.values(), lr=1e-2)


def call(p, b, x):
    return functional_call(base, (p, b), (x,))


for step in range(4):
    x, y = torch.randn(5, 3), torch.randn(5, 1)
    out = vmap(call, in_dims=(0, 0, None), randomness="different")(params, buffers, x)
    losses = (out - y).pow(2).mean((1, 2))
    optimizer.zero_grad()
    losses.sum().backward()
    optimizer.step()
    print(step, [v.hex() for v in losses.tolist()])
point = torch.ones(3)
one = {k: v[0].detach() for k, v in params.items()}
base.eval()
grads, value = grad_and_value(lambda p: call(p, {}, point).sum())(one)
print(value.item().hex(), sorted(grads), hessian(lambda v: call(one, {}, v).sum())(point).double().sum().item().hex())
print(jacfwd(lambda v: call(one, {}, v))(point).tolist(), jvp(lambda v: call(one, {}, v), (point,), (point,))[1].item().hex())
