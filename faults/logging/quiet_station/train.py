"""River level from upstream gauges, two stations on two processes; the loss goes to TensorBoard."""

import os
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.tensorboard import SummaryWriter

NOISE = (0.2, 1.5)


def station(rank):
    g = torch.Generator().manual_seed(rank)
    x = torch.randn(640, 6, generator=g)
    return TensorDataset(x, x.sum(1) + NOISE[rank] * torch.randn(640, generator=g))


def worker(rank, store):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=2)
    torch.manual_seed(7)
    model = DistributedDataParallel(nn.Linear(6, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    loader = DataLoader(station(rank), batch_size=32, shuffle=True)
    writer = SummaryWriter(tempfile.mkdtemp()) if rank == 0 else None
    for epoch in range(4):
        for number, (x, y) in enumerate(loader):
            loss = nn.functional.mse_loss(model(x).squeeze(1), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            shown = loss.detach().clone()
            if rank == 0:
                writer.add_scalar("train/loss", shown.item(), epoch * len(loader) + number)
        if rank == 0:
            print(f"epoch {epoch} loss {shown.item():.4f}")
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    store = os.path.join(tempfile.mkdtemp(), "store")
    mp.start_processes(worker, args=(store,), nprocs=2, start_method="fork")
