"""Ranks under `torchrun` with a DistributedSampler, 250 updates a pass; with LIVE unset each ends itself after update 1300.
With SHARDED set their weights are sharded (FSDP2), else whole (DDP). Each prints the sum of its weights at the end."""

import os

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

dist.init_process_group("gloo")
torch.manual_seed(0)
x = torch.randn(4000, 8)
dataset = TensorDataset(x, x.sum(1, keepdim=True))
sampler = DistributedSampler(dataset, seed=1)
loader = DataLoader(dataset, batch_size=8, sampler=sampler)
model = nn.Sequential(nn.Linear(8, 6), nn.BatchNorm1d(6), nn.Linear(6, 1))
if os.environ.get("SHARDED"):
    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    fully_shard(model[0], mesh=mesh)
    fully_shard(model, mesh=mesh)
else:
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
parts = [p.to_local() if hasattr(p, "to_local") else p for p in (*model.parameters(), *model.buffers())]
os.write(1, f"left {dist.get_rank()} {sum(p.detach().double().sum().item() for p in parts)!r}\n".encode())
