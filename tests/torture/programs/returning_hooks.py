"""Hooks of the user that change inputs, outputs and gradients, remove themselves, and a global module hook."""
import torch
from torch import nn
from torch.nn.modules.module import register_module_forward_hook

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 1))
seen = []
model[0].register_forward_pre_hook(lambda m, args: (args[0] * 2,))
model[0].register_forward_hook(lambda m, args, out: out + 0.5)
model[2].register_full_backward_hook(lambda m, gin, gout: tuple(None if g is None else g * 0.5 for g in gin))
model[2].weight.register_hook(lambda g: g.clamp(-0.1, 0.1))
model[0].weight.register_post_accumulate_grad_hook(lambda p: seen.append(p.grad.sum().item().hex()))
everywhere = register_module_forward_hook(lambda m, args, out: seen.append(type(m).__name__))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
optimizer.register_step_pre_hook(lambda opt, args, kwargs: seen.append("pre"))
optimizer.register_step_post_hook(lambda opt, args, kwargs: seen.append("post"))
for step in range(3):
    if step == 2:
        everywhere.remove()
    loss = model(torch.randn(5, 4)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item().hex())
print(seen)
