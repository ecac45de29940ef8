"""A training whose state takes a while to be saved; its optimizer breaks the weights at update 40 and 80. `full`: it does not, and
from update 20 on no file may grow beyond 1 MB; `closed`: no file may be made in the run folder; it ends after 120 updates. Without
them, it never ends."""

import os
import resource
import sys

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

LIMIT = 1024**2
ENDS = {"full", "closed", "small"} & {*sys.argv}
print(os.getpid(), flush=True)


class Breaking(torch.optim.Adam):
    """Adam, whose update overflows now and then."""

    updates = 0

    def step(self, closure=None):
        super().step(closure)
        self.updates += 1
        if self.updates in (40, 80) and not ENDS:
            print("broken", self.updates, flush=True)
            with torch.no_grad():
                self.param_groups[0]["params"][0][0, 0] = float("inf")


torch.manual_seed(0)
model = nn.Sequential(*(layer for _ in range(4) for layer in (nn.Linear(300, 300), nn.Tanh())))
optimizer = Breaking(model.parameters(), lr=1e-4)
loader = DataLoader(TensorDataset(torch.randn(96, 300)), batch_size=8, shuffle=True)
updates = 0
while updates < 120 or not ENDS:
    for (x,) in loader:
        optimizer.zero_grad()
        (model(x) - x).square().mean().backward()
        optimizer.step()
        updates += 1
        if updates == 20 and "full" in sys.argv:
            resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT, LIMIT))
        if updates == 20 and "closed" in sys.argv:
            for folder, _, _ in os.walk("runs"):
                os.chmod(folder, 0o555)
print("ended", sum(p.detach().double().sum() for p in model.parameters()).item() if ENDS else "")
