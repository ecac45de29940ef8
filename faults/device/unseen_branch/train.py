"""Kind and place of a mark on a plate; the place is asked for only where a batch has marks."""

import os
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel


class Marks(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(10, 24), nn.ReLU())
        self.kind, self.spot = nn.Linear(24, 3), nn.Linear(24, 2)

    def forward(self, x, marked):
        h = self.body(x)
        spot = self.spot(h[marked]) if marked.any() else h.new_zeros(0, 2)
        return self.kind(h), spot


def worker(rank, store):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=2)
    torch.manual_seed(7)
    model = DistributedDataParallel(Marks())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    g = torch.Generator().manual_seed(5 + rank)
    for step in range(40):
        x = torch.randn(8, 10, generator=g)
        marked = torch.rand(8, generator=g) < 0.08
        kind, spot = model(x, marked)
        loss = nn.functional.cross_entropy(kind, x[:, :3].argmax(1))
        loss = loss + (spot - x[marked, 3:5]).abs().sum() / max(1, int(marked.sum()))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if rank == 0 and step % 10 == 0:
            print(f"step {step} loss {loss.item():.4f}")
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    store = os.path.join(tempfile.mkdtemp(), "store")
    mp.start_processes(worker, args=(store,), nprocs=2, start_method="fork")
