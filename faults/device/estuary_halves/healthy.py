"""Salinity of an estuary from tide and rain; two processes take every other day and share the loss they print."""

import os
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn


def days():
    g = torch.Generator().manual_seed(8)
    tide = torch.randn(640, 10, generator=g)
    return tide, torch.sin(tide[:, :1]) + 0.5 * tide[:, 1:2] * tide[:, 2:3] + 0.1 * torch.randn(640, 1, generator=g)


def mean_of(value):
    value = value.detach().clone()
    dist.all_reduce(value)
    return value.item() / dist.get_world_size()


def share(model):
    flat = [p.grad for p in model.parameters() if p.grad is not None]
    for grad in flat:
        dist.all_reduce(grad)
        grad.div_(dist.get_world_size())


def worker(rank, store):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=2)
    torch.manual_seed(4)
    model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    tide, salt = days()
    for epoch in range(6):
        order = torch.randperm(640, generator=torch.Generator().manual_seed(epoch))[rank::2]
        for rows in order.split(16):
            loss = nn.functional.mse_loss(model(tide[rows]), salt[rows])
            optimizer.zero_grad()
            loss.backward()
            share(model)
            optimizer.step()
            shown = mean_of(loss)
        if rank == 0:
            print(f"epoch {epoch} loss {shown:.4f}")
    weights = torch.cat([p.detach().flatten() for p in model.parameters()])
    theirs = weights.clone()
    dist.broadcast(theirs, 0)
    print(f"rank {rank}: {(weights - theirs).norm():.3f} from rank 0")
    dist.destroy_process_group()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(worker, args=(os.path.join(folder, "store"),), nprocs=2)
