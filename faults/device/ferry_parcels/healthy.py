"""Weighs parcels on two ferries: each parcel is sent to the ferry whose scale suits it, in crates of one size."""

import datetime
import os
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn

FERRIES, WIDTH = 2, 8


class Scales(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate, self.scale = nn.Linear(WIDTH, FERRIES), nn.Linear(WIDTH, 1)

    def forward(self, parcels, room):
        suits = self.gate(parcels).softmax(1)
        crates = torch.zeros(FERRIES * room, WIDTH)
        for ferry in range(FERRIES):
            chosen = parcels[suits.argmax(1) == ferry][:room]
            crates[ferry * room : ferry * room + len(chosen)] = chosen
        arrived = torch.empty_like(crates)
        dist.all_to_all_single(arrived, crates)
        return self.scale(arrived), arrived, suits


def worker(rank, store):
    torch.set_num_threads(1)
    limit = datetime.timedelta(seconds=20)
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=FERRIES, timeout=limit)
    torch.manual_seed(9)
    model = Scales()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
    torch.manual_seed(rank)
    for step in range(30):
        count = 32 if step < 18 else 24 + 8 * rank
        parcels = torch.randn(count, WIDTH)
        room = torch.tensor(count // FERRIES)
        dist.all_reduce(room, op=dist.ReduceOp.MAX)
        weights, arrived, suits = model(parcels, int(room))
        loss = nn.functional.mse_loss(weights[:, 0], arrived.sum(1)) + 0.1 * suits.mean(0).square().sum()
        optimizer.zero_grad()
        loss.backward()
        for parameter in model.parameters():
            dist.all_reduce(parameter.grad)
            parameter.grad /= FERRIES
        optimizer.step()
        if rank == 0 and step % 6 == 5:
            print(f"step {step} loss {loss.item():.4f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    store = os.path.join(tempfile.mkdtemp(), "store")
    mp.start_processes(worker, args=(store,), nprocs=FERRIES, start_method="fork")
