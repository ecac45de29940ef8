"""A healthy run of two ranks with all that looks suspicious: padded shards, accumulation, clipping, averaged weights,
an evaluation without the wrapper."""

import copy
import os
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def worker(rank, store):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=2)
    torch.manual_seed(3 + rank)
    x = torch.randn(97, 6, generator=torch.Generator().manual_seed(1))
    rows = TensorDataset(x, (x[:, 0] > 0).long())
    model = DistributedDataParallel(
        nn.Sequential(nn.Linear(6, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(0.1), nn.Linear(16, 2))
    )
    average = copy.deepcopy(model.module)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    sampler = DistributedSampler(rows)
    loader = DataLoader(rows, batch_size=5, sampler=sampler)
    for epoch in range(4):
        sampler.set_epoch(epoch)
        for i, (a, b) in enumerate(loader):
            if i % 2 == 0:
                with model.no_sync():
                    (nn.functional.cross_entropy(model(a), b) / 2).backward()
                continue
            (nn.functional.cross_entropy(model(a), b) / 2).backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
            with torch.no_grad():
                for old, new in zip(average.parameters(), model.module.parameters(), strict=True):
                    old.lerp_(new, 0.1)
        optimizer.zero_grad()
        model.eval()
        with torch.no_grad():
            right = (model.module(x).argmax(1) == rows.tensors[1]).float().mean()
        model.train()
        if rank == 0:
            print(epoch, round(right.item(), 2), flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    store = os.path.join(tempfile.mkdtemp(), "store")
    mp.start_processes(worker, args=(store,), nprocs=2, start_method="fork")
