"""Heteroscedastic regression, two processes with gloo."""

import os
import socket

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler


class Gaussian(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(6, 24), nn.Tanh())
        self.mean = nn.Linear(24, 1)
        self.noise = nn.Linear(24, 1)

    def forward(self, x, scale):
        h = self.body(x)
        return self.mean(h).squeeze(1), nn.functional.softplus(self.noise(h)).squeeze(1) * scale


def nll(mean, sigma, y):
    z = (y - mean) / sigma
    return (0.5 * z * z + sigma.log()).mean()


def data():
    g = torch.Generator().manual_seed(9)
    x = torch.randn(192, 6, generator=g)
    scale = torch.rand(192, generator=g) + 0.5
    scale[163] = 0.0
    return TensorDataset(x, scale, x[:, 0] + 0.2 * torch.randn(192, generator=g))


def worker(rank, world, port):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=rank, world_size=world)
    torch.manual_seed(27)
    model = DDP(Gaussian())
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    rows = data()
    loader = DataLoader(rows, batch_size=8, sampler=DistributedSampler(rows, world, rank, shuffle=True))
    for step, (x, scale, y) in enumerate(loader):
        loss = nll(*model(x, scale), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if rank == 0:
            print(f"step {step} loss {loss.item():.4f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    mp.spawn(worker, args=(2, port), nprocs=2)
