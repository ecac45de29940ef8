"""FullyShardedDataParallel on two ranks, with the original parameters and with flat ones."""

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import FullyShardedDataParallel

dist.init_process_group("gloo")
rank = dist.get_rank()
for original in (True, False):
    torch.manual_seed(0)
    model = FullyShardedDataParallel(
        nn.Sequential(nn.Linear(7, 11), nn.Tanh(), nn.Linear(11, 3)), use_orig_params=original, device_id=torch.device("cpu")
    )
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    torch.manual_seed(5 + rank)
    for step in range(6):
        loss = model(torch.randn(4, 7)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        norm = model.clip_grad_norm_(1.0)
        optimizer.step()
        if rank == 0:
            print(original, step, loss.item().hex(), norm.item().hex(), flush=True)
    total = torch.stack([p.detach().double().sum() for p in model.parameters() if p.numel()]).sum()
    dist.all_reduce(total)
    if rank == 0:
        print(original, total.item().hex(), flush=True)
dist.destroy_process_group()
