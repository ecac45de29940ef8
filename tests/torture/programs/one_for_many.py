"""Several models under one optimizer; later one model under several optimizers with param groups of their own rates, stepped in turn."""
import itertools

import torch
from torch import nn

torch.manual_seed(0)
first, second = nn.Linear(3, 3), nn.Linear(3, 1)
joint = torch.optim.Adam(itertools.chain(first.parameters(), second.parameters()), lr=1e-2)
for step in range(3):
    loss = second(first(torch.randn(4, 3)).relu()).pow(2).mean()
    joint.zero_grad()
    loss.backward()
    joint.step()
    print("joint", step, loss.item().hex())
decay = [p for p in first.parameters() if p.ndim > 1]
rest = [p for p in first.parameters() if p.ndim <= 1]
split = [torch.optim.AdamW([{"params": decay, "weight_decay": 0.1}, {"params": rest, "weight_decay": 0.0, "lr": 5e-2}], lr=1e-2),
         torch.optim.SGD([{"params": second.weight}, {"params": [second.bias], "lr": 0.5, "momentum": 0.3}], lr=0.1)]
for step in range(6):
    loss = second(first(torch.randn(4, 3)).relu()).pow(2).mean()
    loss.backward()
    split[step % 2].step()
    split[step % 2].zero_grad()
    print("split", step, loss.item().hex(), [len(o.state) for o in split])
print([p.double().sum().item().hex() for m in (first, second) for p in m.parameters()], [len(o.param_groups) for o in split])
