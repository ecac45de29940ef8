"""Which of three orchards an apple comes from; two processes average their gradients by hand."""

import os
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn


def apples():
    g = torch.Generator().manual_seed(3)
    sugar = torch.randn(640, 8, generator=g)
    return sugar, (sugar[:, :3] + 0.2 * torch.randn(640, 3, generator=g)).argmax(1)


def average(model):
    for p in model.parameters():
        dist.all_reduce(p.grad)
        p.grad /= dist.get_world_size()


def worker(rank, store):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=2)
    torch.manual_seed(20 + rank)
    model = nn.Sequential(nn.Linear(8, 20), nn.Tanh(), nn.Linear(20, 3))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    sugar, orchard = apples()
    for epoch in range(4):
        order = torch.randperm(640, generator=torch.Generator().manual_seed(epoch))
        for rows in order[rank::2].split(16):
            loss = nn.functional.cross_entropy(model(sugar[rows]), orchard[rows])
            optimizer.zero_grad()
            loss.backward()
            average(model)
            optimizer.step()
        if rank == 0:
            print(f"epoch {epoch} loss {loss.item():.4f}")
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    store = os.path.join(tempfile.mkdtemp(), "store")
    mp.start_processes(worker, args=(store,), nprocs=2, start_method="fork")
