"""Two ranks (or as many as RANKS says) under DDP. `moments`: at step 60 the first moments of rank 1 become NaN, as a bad cell of memory would.
`dies`: rank 1 is killed between the bad backward and its gate. `survives`: so it is, and the others
end after that step without another reduction. `passes`: nothing goes wrong. `accelerate`: the loop of
accelerate."""

import os
import sys
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

FAULT = sys.argv[1] if len(sys.argv) > 1 else "moments"
FRAME = sys.argv[2] if len(sys.argv) > 2 else "ddp"
STEPS, BAD, RANKS = 300, 60, int(os.environ.get("RANKS", "2"))
DIES = FAULT in ("dies", "survives")


def train(rank, port):
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "RANK": str(rank), "WORLD_SIZE": str(RANKS)}
    os.environ |= {"LOCAL_RANK": str(rank), "ACCELERATE_USE_CPU": "true"}
    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(1)
    x = torch.randn(640, 8, generator=generator)
    y = x.sum(1, keepdim=True) + torch.randn(640, 1, generator=generator)
    if FAULT == "sample":
        x[333, 2] = float("nan")
    data = TensorDataset(x, y)
    model = nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    if FRAME == "accelerate":
        from accelerate import Accelerator

        accelerator = Accelerator(cpu=True)
        loader = DataLoader(data, batch_size=16, shuffle=True, generator=torch.Generator().manual_seed(2))
        model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
        backward = accelerator.backward
    else:
        dist.init_process_group("gloo", rank=rank, world_size=RANKS)
        loader = DataLoader(data, batch_size=16, sampler=DistributedSampler(data, RANKS, rank))
        model = nn.parallel.DistributedDataParallel(model)
        backward = torch.Tensor.backward
    losses = []
    while len(losses) < STEPS:
        for a, b in loader:
            step = len(losses)
            if step >= STEPS:
                break
            if FAULT == "moments" and step == BAD and rank == 1:
                first = next(model.parameters())
                state = getattr(optimizer, "optimizer", optimizer).state
                state[first]["exp_avg"][0, 0] = float("nan")
            if DIES and step == BAD:
                a = a * float("nan") if rank == 1 else a
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(a), b)
            backward(loss)
            if DIES and step == BAD and rank == 1:
                os._exit(9)
            began = time.monotonic()
            optimizer.step()
            if FAULT == "survives" and step == BAD:
                os.write(1, f"rank {rank} was held for {time.monotonic() - began:.1f} s\n".encode())
                return
            losses.append(loss.item())
    last = [loss for loss in losses[-STEPS // 5 :] if loss == loss]
    weights = torch.cat([p.detach().reshape(-1) for p in model.parameters()]).double().sum().item()
    print(f"rank {rank} final {sum(last) / max(len(last), 1):.6f} of {len(last)} weights {weights:.9f}", flush=True)
    del model, optimizer, loss  # a reducer that outlives its group joins gloo's thread with Python's lock: torch 2.13 may hang
    dist.destroy_process_group()


if __name__ == "__main__":
    import socket

    with socket.create_server(("127.0.0.1", 0)) as one:
        port = str(one.getsockname()[1])
    if FAULT == "survives":  # nobody ends the others
        ranks = [mp.get_context("spawn").Process(target=train, args=(rank, port)) for rank in range(RANKS)]
        for rank in ranks:
            rank.start()
        for rank in ranks:
            rank.join()
        sys.exit()
    mp.start_processes(train, args=(port,), nprocs=RANKS, start_method="spawn")
