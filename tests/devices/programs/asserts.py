"""Ids and labels that a table and a head have no place for; a device says no more than CUDA does."""

import sys
import warnings

warnings.filterwarnings("ignore")
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from where import PLACE

CUDA_SAYS = "CUDA error: device-side assert triggered\nCUDA kernel errors might be asynchronously reported"
WHAT = sys.argv[1]


class Trips(nn.Module):
    def __init__(self):
        super().__init__()
        self.station = nn.Embedding(40, 8)
        self.head = nn.Linear(8, 5)

    def forward(self, stations):
        if stations.device.type == "npu" and int(stations.max()) > 39:
            raise RuntimeError(CUDA_SAYS)
        return self.head(self.station(stations).mean(1))


torch.manual_seed(0)
stations, kinds = torch.randint(40, (96, 6)), torch.randint(5, (96,))
if WHAT == "token":
    stations[43, 2] = 42
else:
    kinds[43] = 7
model = Trips().to(PLACE)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
for batch, kind in DataLoader(TensorDataset(stations, kinds), 8):
    batch, kind = batch.to(PLACE), kind.to(PLACE)
    scores = model(batch)
    if PLACE == "npu" and int(kind.max()) > 4:  # a device on which nothing is refused at once, as on CUDA
        scores, kind = scores.to("meta"), kind.to("meta")
    loss = nn.functional.cross_entropy(scores, kind)
    if loss.is_meta:
        raise RuntimeError(CUDA_SAYS)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item())
