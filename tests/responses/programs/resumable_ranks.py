"""Ranks under `torchrun` with a DistributedSampler, 250 updates a pass; with LIVE unset each ends itself after update 1300. Each
prints the sum of its weights at the end."""

import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

dist.init_process_group("gloo")
torch.manual_seed(0)
x = torch.randn(4000, 8)
dataset = TensorDataset(x, x.sum(1, keepdim=True))
sampler = DistributedSampler(dataset, seed=1)
loader = DataLoader(dataset, batch_size=8, sampler=sampler)
model = DistributedDataParallel(nn.Linear(8, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
updates = 0
for epoch in range(6):
    sampler.set_epoch(epoch)
    for features, target in loader:
        loss = (model(features) - target).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        updates += 1
        if updates == 1300 and not os.environ.get("LIVE"):
            os._exit(5)
os.write(1, f"left {dist.get_rank()} {model.module.weight.double().sum().item()!r}\n".encode())
