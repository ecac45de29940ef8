"""Pipeline parallel on two ranks: two stages by hand, a GPipe schedule of four microbatches, an optimizer for each stage."""

import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.pipelining import PipelineStage, ScheduleGPipe

bad = len(sys.argv) > 1
dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(rank)
part = nn.Sequential(nn.Linear(8, 16), nn.Tanh()) if rank == 0 else nn.Sequential(nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 3))
stage = PipelineStage(part, rank, 2, torch.device("cpu"))
schedule = ScheduleGPipe(stage, n_microbatches=4, loss_fn=nn.functional.cross_entropy)
optimizer = torch.optim.Adam(part.parameters(), lr=1e-2)
torch.manual_seed(3)
for step in range(8):
    x, y = torch.randn(8, 8), torch.randint(0, 3, (8,))
    if bad and step == 5:
        x[2, 3] = float("nan")
    optimizer.zero_grad()
    losses = []
    if rank == 0:
        schedule.step(x)
    else:
        schedule.step(target=y, losses=losses)
    optimizer.step()
    if rank == 1:
        print(step, torch.stack(losses).mean().item().hex(), flush=True)
dist.barrier()
if rank == 1:
    print(sum(p.double().sum().item() for p in part.parameters()).hex(), flush=True)
dist.destroy_process_group()
