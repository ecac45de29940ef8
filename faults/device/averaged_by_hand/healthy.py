"""Kind of rock from the answer to a hammer blow; two processes average their gradients by hand."""

import os
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn


def blows():
    g = torch.Generator().manual_seed(8)
    answer = torch.randn(600, 10, generator=g)
    return answer, (answer[:, :2] > 0).long() @ torch.tensor([1, 2])


def batches(answer, rock, rank, epoch):
    order = torch.randperm(len(rock), generator=torch.Generator().manual_seed(epoch))
    for rows in order[rank::2].split(30):
        yield answer[rows], rock[rows]


def average(model):
    for p in model.parameters():
        dist.all_reduce(p.grad)
        p.grad /= dist.get_world_size()


def worker(rank, store):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=2)
    torch.manual_seed(5)
    model = nn.Sequential(nn.Linear(10, 24), nn.ReLU(), nn.Linear(24, 4))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.2)
    answer, rock = blows()
    for epoch in range(3):
        for x, y in batches(answer, rock, rank, epoch):
            loss = nn.functional.cross_entropy(model(x), y)
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
