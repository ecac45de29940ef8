"""saved_tensors_hooks: activations packed to half or to disk-like storage, save_on_cpu, a disabled region, and errors when they are forbidden."""
import torch
from torch import nn
from torch.autograd.graph import disable_saved_tensors_hooks, save_on_cpu, saved_tensors_hooks

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 8), nn.Sigmoid(), nn.Linear(8, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
shelf, counts = {}, {"pack": 0, "unpack": 0}


def pack(x):
    counts["pack"] += 1
    shelf[counts["pack"]] = x.detach().to(torch.bfloat16) if x.is_floating_point() and not x.is_leaf else x
    return counts["pack"], x.dtype


def unpack(key):
    counts["unpack"] += 1
    return shelf[key[0]].to(key[1])


for step in range(6):
    x = torch.randn(5, 4)
    guard = (saved_tensors_hooks(pack, unpack), save_on_cpu(), disable_saved_tensors_hooks("not here"))[step % 3]
    with guard:
        loss = model(x).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    shelf.clear()
    print(step, loss.item().hex(), counts)
try:
    with disable_saved_tensors_hooks("forbidden here"), save_on_cpu():
        model(torch.ones(1, 4))
except RuntimeError as error:
    print(error)
print([p.double().sum().item().hex() for p in model.parameters()])
