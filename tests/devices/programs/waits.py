"""Prints how often torch says that the host waits for the device in steps 60 to 79, which ask it for nothing."""

import warnings

import torch
from torch import nn
from where import PLACE

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(64, 64), nn.GELU(), nn.Linear(64, 10)).to(PLACE)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
x, y = torch.randn(32, 64, device=PLACE), torch.randint(0, 10, (32,), device=PLACE)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    for step in range(80):
        if step == 60:
            caught.clear()
            torch.cuda.set_sync_debug_mode("warn")
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    torch.cuda.set_sync_debug_mode("default")
print(sum("synchroniz" in str(w.message) for w in caught))
