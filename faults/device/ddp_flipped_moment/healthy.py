"""Readings of a river, two processes with gloo."""

import os
import socket

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def readings():
    g = torch.Generator().manual_seed(4)
    x = torch.randn(640, 8, generator=g)
    return TensorDataset(x, x.sum(1, keepdim=True) + torch.randn(640, 1, generator=g))


def worker(rank, world, port):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=rank, world_size=world)
    torch.manual_seed(0)
    model = DDP(nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1)))
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    rows = readings()
    sampler = DistributedSampler(rows, world, rank)
    step = 0
    for epoch in range(12):
        sampler.set_epoch(epoch)
        for x, y in DataLoader(rows, batch_size=16, sampler=sampler):
            loss = nn.functional.mse_loss(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if rank == 0:
                print(f"step {step} loss {loss.item():.6f}", flush=True)
            step += 1
    dist.destroy_process_group()


if __name__ == "__main__":
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    mp.spawn(worker, args=(2, port), nprocs=2)
