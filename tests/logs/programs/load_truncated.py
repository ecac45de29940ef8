import torch
import torch.nn as nn

torch.manual_seed(0)
import os
import tempfile

path = os.path.join(tempfile.mkdtemp(), "last.pt")
torch.save(nn.Linear(512, 512).state_dict(), path)
with open(path, "r+b") as f:
    f.truncate(700_000)
state = torch.load(path)
