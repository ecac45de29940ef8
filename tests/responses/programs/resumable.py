"""A classifier over a shuffled loader with augmentation, batch norm, dropout, a schedule by the step and one by the pass,
and an evaluation after each pass. Prints the sum of its weights. `die N`: it is killed after update N, and until then each
update waits for the state that was begun before it, so that a slow disk changes nothing; `other`: another model; `passes N`:
so many."""

import hashlib
import os
import random
import signal
import sys
import threading
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

die = int(sys.argv[sys.argv.index("die") + 1]) if "die" in sys.argv and not os.environ.get("LIVE") else -1
torch.manual_seed(0)
random.seed(0)


class Noisy(Dataset):
    def __init__(self, count):
        self.x = torch.randn(count, 4)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, index):
        return self.x[index] + 0.01 * torch.randn(4) + 0.01 * random.random()


def writing():
    """Whether a state is being written beside the training."""
    return any(thread.name == "debug-tracer-state" for thread in threading.enumerate())


width = 12 if "other" in sys.argv else 8
model = nn.Sequential(nn.Linear(4, width), nn.BatchNorm1d(width), nn.Dropout(0.2), nn.Tanh(), nn.Linear(width, 1))
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
by_step = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 100)
by_pass = torch.optim.lr_scheduler.StepLR(optimizer, 2)
train = DataLoader(Noisy(48), batch_size=8, shuffle=True)
held_out = DataLoader(Noisy(16), batch_size=8)
updates = 0
for _epoch in range(int(sys.argv[sys.argv.index("passes") + 1]) if "passes" in sys.argv else 6):
    model.train()
    total, count = 0.0, 0
    for x in train:
        optimizer.zero_grad()
        loss = (model(x) - x.sum(1, keepdim=True)).square().mean()
        loss.backward()
        optimizer.step()
        by_step.step()
        total, count, updates = total + loss.item(), count + 1, updates + 1
        while die > 0 and writing():
            time.sleep(0.001)
        if updates == die:
            os.kill(os.getpid(), signal.SIGKILL)
    by_pass.step()
    model.eval()
    with torch.no_grad():
        print("pass", total / count, sum(float(model(x).mean()) for x in held_out), loss.item())
left = b"".join(t.numpy().tobytes() for t in model.state_dict().values())
print("left", hashlib.sha256(left).hexdigest(), optimizer.param_groups[0]["lr"])
