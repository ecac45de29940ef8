"""The whole loop runs inside the user's own TorchDispatchMode and TorchFunctionMode, which count every operation and read every name."""
import collections

import torch
from torch import nn
from torch.overrides import TorchFunctionMode, resolve_name
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode


class Ops(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.seen = collections.Counter()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.seen[str(func)] += 1
        return func(*args, **(kwargs or {}))


class Names(TorchFunctionMode):
    def __init__(self):
        super().__init__()
        self.seen = collections.Counter()

    def __torch_function__(self, func, types, args=(), kwargs=None):
        self.seen[resolve_name(func) or getattr(func, "__name__", "?")] += 1
        return func(*args, **(kwargs or {}))


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, foreach=False)
ops, names, flops = Ops(), Names(), FlopCounterMode(display=False)
with ops, names, flops:
    for step in range(4):
        loss = model(torch.randn(4, 3)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(step, loss.item().hex())
print(sorted(ops.seen.items()))
print(sorted(names.seen.items()))
print(flops.get_total_flops(), torch.overrides._get_current_function_mode(), len(torch.utils._python_dispatch._get_current_dispatch_mode_stack()))
