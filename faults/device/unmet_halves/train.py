"""Grade of timber from its scan lines; two processes take half of the boards each."""

import os
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn


def boards():
    g = torch.Generator().manual_seed(3)
    lines = torch.randn(480, 12, generator=g)
    return lines, (lines[:, :3].sum(1) > 0).long() + (lines[:, 3] > 1).long()


def average(model):
    for p in model.parameters():
        if p.grad is not None:
            continue
        dist.all_reduce(p.grad)
        p.grad /= dist.get_world_size()


def worker(rank, store):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=2)
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(12, 20), nn.Tanh(), nn.Linear(20, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.3)
    lines, grade = boards()
    for epoch in range(5):
        order = torch.randperm(len(grade), generator=torch.Generator().manual_seed(epoch))
        for rows in order[rank::2].split(8):
            loss = nn.functional.cross_entropy(model(lines[rows]), grade[rows])
            optimizer.zero_grad()
            loss.backward()
            average(model)
            optimizer.step()
        if rank == 0:
            print(f"epoch {epoch} loss {loss.item():.4f}")
    first = [p.detach().clone() for p in model.parameters()]
    for p in first:
        dist.broadcast(p, 0)
    away = max((p - q).abs().max().item() for p, q in zip(first, model.parameters()))
    print(f"rank {rank}: {away:.4f} from rank 0")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(worker, args=(os.path.join(folder, "store"),), nprocs=2)
