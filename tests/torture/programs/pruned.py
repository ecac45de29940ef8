"""Pruning during training: masks in forward pre-hooks, iterative and global pruning, made permanent, then trained on."""
import torch
from torch import nn
from torch.nn.utils import prune

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(8):
    if step == 2:
        prune.l1_unstructured(model[0], "weight", amount=0.3)
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    if step == 4:
        prune.global_unstructured([(model[0], "weight"), (model[2], "weight"), (model[2], "bias")], pruning_method=prune.L1Unstructured, amount=0.4)
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    if step == 6:
        prune.remove(model[0], "weight")
        prune.ln_structured(model[4], "weight", amount=0.5, n=2, dim=1)
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    loss = (model(torch.randn(5, 6)) - 1).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item().hex(), [int((m.weight == 0).sum()) for m in model if isinstance(m, nn.Linear)], len(model[0]._forward_pre_hooks))
print(list(model.state_dict()), prune.is_pruned(model))
