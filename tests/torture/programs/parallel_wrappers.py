"""nn.DataParallel without a GPU, and DistributedDataParallel over gloo with one process, no_sync, find_unused_parameters, static buffers."""
import os
import tempfile
import warnings

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

warnings.filterwarnings("ignore")
torch.manual_seed(0)
inner = nn.Sequential(nn.Linear(4, 6), nn.BatchNorm1d(6), nn.ReLU(), nn.Linear(6, 1))
data = TensorDataset(torch.randn(12, 4), torch.randn(12, 1))
with tempfile.TemporaryDirectory() as folder:
    dist.init_process_group("gloo", init_method=f"file://{os.path.join(folder, 'meet')}", rank=0, world_size=1)
    sampler = DistributedSampler(data, num_replicas=1, rank=0, shuffle=True)
    for wrap in (nn.DataParallel, DistributedDataParallel):
        model = wrap(inner)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
        for epoch in range(2):
            sampler.set_epoch(epoch)
            for i, (x, y) in enumerate(DataLoader(data, batch_size=4, sampler=sampler)):
                loss = (model(x) - y).pow(2).mean()
                if wrap is DistributedDataParallel and i == 0:
                    with model.no_sync():
                        loss.backward()
                    continue
                loss.backward()
                optimizer.step()
                optimizer.zero_grad()
                total = loss.detach().clone()
                dist.all_reduce(total)
                print(wrap.__name__, epoch, i, loss.item().hex(), total.item().hex(), len(model.state_dict()))
    dist.destroy_process_group()
print([p.double().sum().item().hex() for p in inner.parameters()])
