"""Depth of the water table from the logs of a well, with parameters sharded over two processes."""

import os
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler


def wells():
    g = torch.Generator().manual_seed(3)
    logs = torch.randn(480, 12, generator=g)
    depth = logs[:, :3].sum(1, keepdim=True) + logs[:, 3:4] * logs[:, 4:5]
    return TensorDataset(logs, depth)


def worker(rank, store):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=2)
    torch.manual_seed(11)
    model = nn.Sequential(nn.Linear(12, 32), nn.Tanh(), nn.Linear(32, 1))
    fully_shard(model, mesh=init_device_mesh("cpu", (2,)))
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    data = wells()
    parts = DistributedSampler(data, 2, rank)
    loader = DataLoader(data, batch_size=24, sampler=parts)
    for epoch in range(2):
        parts.set_epoch(epoch)
        for logs, depth in loader:
            loss = nn.functional.mse_loss(model(logs), depth)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if rank == 0:
            print(f"epoch {epoch} loss {loss.item():.4f}")
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    store = os.path.join(tempfile.mkdtemp(), "store")
    mp.start_processes(worker, args=(store,), nprocs=2, start_method="fork")
