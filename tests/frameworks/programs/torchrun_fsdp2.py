"""FSDP2 on two ranks with mixed block sharding, accumulation without sync, clipping and an evaluation."""

import hashlib

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard

dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(7, 11), nn.LayerNorm(11), nn.GELU(), nn.Dropout(0.1), nn.Linear(11, 3))
mesh = init_device_mesh("cpu", (2,))
fully_shard(model[4], mesh=mesh, mp_policy=MixedPrecisionPolicy(param_dtype=torch.bfloat16, output_dtype=torch.float32))
fully_shard(model, mesh=mesh)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
torch.manual_seed(5 + rank)
for step in range(8):
    for part in range(2):
        model.set_requires_gradient_sync(part == 1)
        x = torch.randn(4, 7)
        loss = model(x).square().mean() / 2
        loss.backward()
    norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad()
    if rank == 0:
        print(step, loss.item().hex(), norm.full_tensor().item().hex() if step % 3 == 0 else "", flush=True)
    elif step % 3 == 0:
        norm.full_tensor()
model.eval()
with torch.no_grad():
    seen = model(torch.ones(2, 7)).sum().item()
model.reshard()
digest = hashlib.sha256(b"".join(p.full_tensor().detach().numpy().tobytes() for p in model.parameters())).hexdigest()
if rank == 0:
    print(seen.hex(), digest, flush=True)
dist.destroy_process_group()
