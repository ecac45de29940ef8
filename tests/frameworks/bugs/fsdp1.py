import sys

import torch
import torch.distributed as dist
from language import BATCH, Model, Sentences, loss_of
from torch.distributed.fsdp import FullyShardedDataParallel
from torch.utils.data import DataLoader, DistributedSampler

bug = sys.argv[1]
dist.init_process_group("gloo")
torch.manual_seed(0)
model = FullyShardedDataParallel(Model(bug), use_orig_params=True, device_id=torch.device("cpu"))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
rows = Sentences(bug)
sampler = DistributedSampler(rows, seed=1)
for epoch in range(2):
    sampler.set_epoch(epoch)
    for batch in DataLoader(rows, batch_size=BATCH, sampler=sampler):
        loss = loss_of(bug, model(batch["tokens"], batch["pad"], batch["scale"]), batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
dist.destroy_process_group()
