"""Full backward hooks and pre-hooks, multi-grad hooks, graph-node hooks, hooks with kwargs and always_call, and hooks that raise once."""
import torch
from torch import nn
from torch.autograd.graph import register_multi_grad_hook

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 6), nn.ReLU(inplace=True), nn.Linear(6, 6), nn.Tanh(), nn.Linear(6, 1))
seen = []
model[2].register_full_backward_pre_hook(lambda m, gout: tuple(g * 2 for g in gout))
model[2].register_full_backward_hook(lambda m, gin, gout: seen.append((len(gin), len(gout), gout[0].sum().item().hex())))
model[4].register_forward_hook(lambda m, args, kwargs, out: seen.append(sorted(kwargs)), with_kwargs=True, prepend=True)
model[4].register_forward_pre_hook(lambda m, args, kwargs: ((args[0] + 0.1,), kwargs), with_kwargs=True)
model[0].register_forward_hook(lambda m, args, out: seen.append(out is not None), always_call=True)
model.register_state_dict_post_hook(lambda m, state, prefix, meta: state.__delitem__(prefix + "0.bias"))
register_multi_grad_hook(list(model[0].parameters()), lambda grads: seen.append([g is not None for g in grads]))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
angry = [True]


def once(grad):
    if angry.pop() if angry else False:
        raise ArithmeticError("not this time")
    return grad.sign() * 0.01


for step in range(4):
    x = torch.randn(5, 4)
    out = model(x)
    loss = out.pow(2).mean()
    loss.grad_fn.register_hook(lambda gin, gout: seen.append("node"))
    out.register_hook(lambda g: seen.append(g.abs().sum().item().hex()))
    if step == 1:
        model[4].weight.register_hook(once)
    optimizer.zero_grad()
    try:
        loss.backward()
    except ArithmeticError as error:
        print(step, error, [p.grad is None for p in model.parameters()])
        continue
    optimizer.step()
    print(step, loss.item().hex(), loss.grad_fn.name())
try:
    model(torch.ones(2, 3))
except RuntimeError as error:
    print(str(error)[:40])
print(len(seen), seen[-6:], list(model.state_dict()))
