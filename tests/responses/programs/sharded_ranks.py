"""Ranks whose weights are sharded (FSDP2, gloo): `sharded_ranks.py HOW RANKS`. At step 12 something goes wrong on the last
rank: `sample`, its batch holds a NaN; `row`, only a part of the derivative is bad, which lies on one rank after the
reduction; `lasting`, each batch since is bad; `moments`, a moment of its shard becomes NaN; `dies`, it is killed before
its update. `passes`: all ranks pass over that step; `healthy`: nothing goes wrong."""

import hashlib
import os
import socket
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

HOW = sys.argv[1] if len(sys.argv) > 1 else "sample"
RANKS = int(sys.argv[2]) if len(sys.argv) > 2 else 2
STEPS, BAD = 40, 12


def said(line):
    os.write(1, f"{line}\n".encode())  # in one piece: several processes write here


def worker(rank, port):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=rank, world_size=RANKS)
    mesh = init_device_mesh("cpu", (RANKS,))
    torch.manual_seed(3)
    model = nn.Sequential(nn.Linear(4, 16), nn.BatchNorm1d(16), nn.Tanh(), nn.Linear(16, 1))
    fully_shard(model[0], mesh=mesh)
    fully_shard(model, mesh=mesh)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, STEPS)
    made = torch.Generator().manual_seed(rank)
    last = rank == RANKS - 1
    for step in range(STEPS):
        x = torch.randn(6, 4, generator=made)
        bad = step == BAD or (HOW == "lasting" and step > BAD)
        if HOW in ("sample", "lasting", "dies") and bad and last:
            x[2, 1] = float("nan")
        if HOW == "passes" and bad:
            schedule.step()
            continue
        if HOW == "moments" and bad and last:
            first = next(iter(model.parameters()))
            optimizer.state[first]["exp_avg"].to_local()[0, 0] = float("nan")
        optimizer.zero_grad()
        loss = (model(x) - x.sum(1, keepdim=True)).square().mean()
        if HOW == "row" and bad and last:
            hidden = model[3].weight  # whole between the forward and the backward of the root
            loss = loss + (hidden.view(-1)[0] * 0).sqrt() if not hasattr(hidden, "to_local") else loss
        loss.backward()
        if HOW == "dies" and step == BAD and last:
            os._exit(9)
        optimizer.step()
        schedule.step()
        said(f"loss of rank {rank} at step {step}: {loss.item()!r}")
    parts = [p.to_local() for p in model.parameters()] + list(model.buffers())
    parts += [v.to_local() if hasattr(v, "to_local") else v for s in optimizer.state.values() for v in s.values()]
    left = b"".join(t.detach().numpy().tobytes() for t in parts)
    said(f"rank {rank} {hashlib.sha256(left).hexdigest()} finite {all(bool(t.isfinite().all()) for t in parts)}")
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    mp.start_processes(worker, (port,), nprocs=RANKS, start_method=os.environ.get("START_METHOD", "spawn"))
