"""Two ranks (or as many as RANKS says) under DistributedDataParallel with gloo; at step 5 the batch of rank 1 holds a NaN. With `passes` all ranks
pass over that step. Each prints the sum of the bytes of its weights and buffers. With `dies` rank BAD_RANK is killed while it looks into its bad
batch, and the others go on."""

import hashlib
import os
import signal
import socket
import sys
import threading
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP

BAD = (5,)
BAD_RANK = int(os.environ.get("BAD_RANK", "1"))
RANKS = int(os.environ.get("RANKS", "2"))


def said(line):
    os.write(1, f"{line}\n".encode())  # in one piece: two processes write here


def killed_in(name):
    """Kill this process once its training is inside a function of that name."""
    main = threading.main_thread().ident
    while True:
        frame = sys._current_frames().get(main)
        while frame is not None:
            if frame.f_code.co_name == name:
                os.kill(os.getpid(), signal.SIGKILL)
            frame = frame.f_back
        time.sleep(0.001)


def worker(rank, port, how):
    if how == "dies" and rank == BAD_RANK:
        sys.setswitchinterval(1e-4)
        threading.Thread(target=killed_in, args=["investigate"], daemon=True).start()
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=rank, world_size=RANKS)
    torch.manual_seed(3)
    model = DDP(nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Tanh(), nn.Linear(8, 1)), broadcast_buffers=False)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    made = torch.Generator().manual_seed(rank)
    for step in range(12):
        x = torch.randn(6, 4, generator=made)
        if rank == BAD_RANK and (step in BAD or how == "lasting" and step >= 5):
            x[2, 1] = float("nan")
        if how == "passes" and step in BAD:
            continue
        optimizer.zero_grad()
        loss = (model(x) - x.sum(1, keepdim=True)).square().mean()
        loss.backward()
        optimizer.step()
        said(f"loss of rank {rank} at step {step}: {loss.item()!r}")
    left = b"".join(t.detach().numpy().tobytes() for t in model.state_dict().values())
    said(f"rank {rank} {hashlib.sha256(left).hexdigest()}")
    dist.barrier()
    del model, optimizer, loss  # a reducer that outlives its group joins gloo's thread while it holds Python's lock: torch 2.13 may hang there
    dist.destroy_process_group()


if __name__ == "__main__":
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = (port, sys.argv[1] if len(sys.argv) > 1 else "")
    method, alone = os.environ.get("START_METHOD", "spawn"), words[1] == "dies"
    ranks = mp.start_processes(worker, words, nprocs=RANKS, join=not alone, start_method=method)
    for one in ranks.processes if alone else ():
        one.join()
