import torch
import torch.nn as nn

torch.manual_seed(0)
import os
import tempfile

import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


class Two(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 2)
        self.b = nn.Linear(4, 2)

    def forward(self, x):
        return self.a(x)


if __name__ == "__main__":
    dist.init_process_group("gloo", init_method="file://" + os.path.join(tempfile.mkdtemp(), "store"), rank=0, world_size=1)
    net = DDP(Two())
    for step in range(2):
        net(torch.randn(3, 4)).mean().backward()
