"""Gradient accumulation over four microbatches, the last window of an epoch is shorter, bfloat16 autocast."""
import sys
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
x = torch.randint(1, 40, (840, 12))
y = (x.sum(1) % 3).long()
model = nn.Sequential(nn.Embedding(40, 16), nn.Flatten(), nn.LayerNorm(192), nn.Linear(192, 32), nn.GELU(), nn.Linear(32, 3))
opt = torch.optim.AdamW(model.parameters(), 2e-3)
loader = DataLoader(TensorDataset(x, y), batch_size=8, shuffle=True)
for epoch in range(3):
    for i, (a, b) in enumerate(loader):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = F.cross_entropy(model(a).float(), b) / 4
        loss.backward()
        if (i + 1) % 4 == 0 or i + 1 == len(loader):
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
            opt.zero_grad()
    print(epoch, 4 * loss.item())
