"""Averaged weights: AveragedModel with an EMA, SWA with SWALR, update_bn over a loader, and a deepcopy swapped in for evaluation."""
import copy

import torch
from torch import nn
from torch.optim.swa_utils import SWALR, AveragedModel, get_ema_multi_avg_fn, update_bn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 6), nn.BatchNorm1d(6), nn.ReLU(), nn.Linear(6, 1))
ema = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(0.9), use_buffers=True)
swa = AveragedModel(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
slow = SWALR(optimizer, swa_lr=0.01, anneal_epochs=2)
data = TensorDataset(torch.randn(20, 4), torch.randn(20, 1))
loader = DataLoader(data, batch_size=6, shuffle=True, generator=torch.Generator().manual_seed(1))
for epoch in range(4):
    for x, y in loader:
        loss = (model(x) - y).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        ema.update_parameters(model)
    if epoch >= 1:
        swa.update_parameters(model)
        slow.step()
    kept = copy.deepcopy(model.state_dict())
    model.load_state_dict(ema.module.state_dict())
    model.eval()
    with torch.no_grad():
        value = model(torch.ones(1, 4)).item()
    model.load_state_dict(kept)
    model.train()
    print(epoch, loss.item().hex(), value.hex(), slow.get_last_lr())
update_bn(loader, swa)
print(swa.n_averaged.item(), swa.module[1].running_mean.double().sum().item().hex(), swa(torch.ones(2, 4)).sum().item().hex())
