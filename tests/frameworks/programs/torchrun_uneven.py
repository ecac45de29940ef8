"""Two ranks, of which the second has fewer batches, as a script with uneven shards has: under Join, or left to wait."""

import datetime
import sys
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.algorithms.join import Join
from torch.nn.parallel import DistributedDataParallel


def train(model, optimizer, rows):
    for batch in rows.split(4):
        loss = model(batch).square().mean()
        optimizer.zero_grad()
        loss.backward()  # rank 0 waits here
        optimizer.step()
        if dist.get_rank() == 0:
            print(len(batch), loss.item().hex(), flush=True)


def main():
    how, seconds = sys.argv[1], float(sys.argv[2])
    dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=seconds))
    rank = dist.get_rank()
    torch.manual_seed(5)
    model = DistributedDataParallel(nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1)))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    rows = torch.randn(64, 4)[: 32 - 8 * rank]
    if how == "join":
        with Join([model]):
            train(model, optimizer, rows)
    else:
        train(model, optimizer, rows)
    if how == "idle" and rank == 1:
        time.sleep(600)  # rank 1 does something else
    if how == "reduce":
        dist.all_reduce(torch.zeros(2))  # rank 1 is here
    if rank == 0:
        print(sum(p.double().sum().item() for p in model.parameters()).hex(), flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
