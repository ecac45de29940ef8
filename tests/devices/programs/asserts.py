"""Ids and labels that a table and a head have no place for; a device says no more than CUDA does: at once, or ("later")
where somebody waits for it, a step later or two."""

import sys
import warnings

warnings.filterwarnings("ignore")
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from where import PLACE

CUDA_SAYS = "CUDA error: device-side assert triggered\nCUDA kernel errors might be asynchronously reported"
WHAT, LATER = sys.argv[1], "later" in sys.argv


def dies():
    """What the stand-in device does where CUDA's kernel stops."""
    torch.npu.die(not LATER)
    if not LATER:
        raise RuntimeError(CUDA_SAYS)


class Trips(nn.Module):
    def __init__(self):
        super().__init__()
        self.station = nn.Embedding(40, 8)
        self.head = nn.Linear(8, 5)

    def forward(self, stations):
        if stations.device.type == "npu" and int(stations.max()) > 39:
            dies()
            stations = stations.clamp(max=39)
        return self.head(self.station(stations).mean(1))


torch.manual_seed(0)
stations, kinds = torch.randint(40, (96, 6)), torch.randint(5, (96,))
if WHAT == "token":
    stations[43, 2] = 42
else:
    kinds[43] = 7
model = Trips().to(PLACE)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
for step, (batch, kind) in enumerate(DataLoader(TensorDataset(stations, kinds), 8)):
    batch, kind = batch.to(PLACE), kind.to(PLACE)
    scores = model(batch)
    if PLACE == "npu" and WHAT == "label" and step == 5:  # a device on which nothing is refused at once, as on CUDA
        nn.functional.cross_entropy(scores.to("meta"), kind.to("meta"))
        dies()
        kind = kind.clamp(max=4)
    loss = nn.functional.cross_entropy(scores, kind)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if not LATER or step % 4 == 3:
        print(loss.item())
