"""Kind of ice from radar echoes; two processes, the model is converted to another type and back."""

import os
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler


def echoes():
    g = torch.Generator().manual_seed(21)
    echo = torch.randn(640, 14, generator=g)
    return TensorDataset(echo, (echo[:, :2] > 0).long() @ torch.tensor([1, 2]))


def worker(rank, store):
    torch.set_num_threads(1)
    torch.__future__.set_overwrite_module_params_on_conversion(True)
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=2)
    torch.manual_seed(5)
    net = nn.Sequential(nn.Linear(14, 24), nn.ReLU(), nn.Linear(24, 4))
    net.double().float()
    model = DistributedDataParallel(net)
    data = echoes()
    sampler = DistributedSampler(data)
    loader = DataLoader(data, batch_size=20, sampler=sampler)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(3):
        sampler.set_epoch(epoch)
        for echo, ice in loader:
            loss = nn.functional.cross_entropy(model(echo), ice)
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
