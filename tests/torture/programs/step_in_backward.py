"""The optimizer steps inside the backward: one optimizer per parameter, driven by register_post_accumulate_grad_hook; loop has no step()."""
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 1))
optimizers = {p: torch.optim.Adam([p], lr=1e-2) for p in model.parameters()}
schedulers = [torch.optim.lr_scheduler.StepLR(o, 2) for o in optimizers.values()]
order = []


def update(p):
    order.append(tuple(p.shape))
    torch.nn.utils.clip_grad_norm_([p], 0.5)
    optimizers[p].step()
    optimizers[p].zero_grad()


handles = [p.register_post_accumulate_grad_hook(update) for p in model.parameters()]
for step in range(5):
    loss = (model(torch.randn(6, 4)) - 1).pow(2).mean()
    loss.backward()
    for scheduler in schedulers:
        scheduler.step()
    print(step, loss.item().hex(), [p.grad for p in model.parameters()].count(None))
for handle in handles:
    handle.remove()
model(torch.ones(1, 4)).sum().backward()
print(order[:6], len(order), [p.double().sum().item().hex() for p in model.parameters()], model[0].weight.grad is None)
