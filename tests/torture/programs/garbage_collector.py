"""The garbage collector disabled, frozen, with callbacks of the user, odd thresholds and its own full collection in the loop."""
import gc

import torch
from torch import nn

events = []
gc.callbacks.append(lambda phase, info: events.append(phase) if info["generation"] == 2 else None)
gc.collect()
gc.freeze()
gc.disable()
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for step in range(5):
    loss = model(torch.randn(4, 3)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step == 2:
        gc.collect()
    print(step, loss.item().hex(), gc.isenabled(), events)
gc.enable()
gc.set_threshold(5, 2, 2)
for step in range(20):
    loss = model(torch.randn(4, 3)).pow(2).mean()
    loss.backward()
    optimizer.step()
print(loss.item().hex(), gc.get_freeze_count() > 0, gc.get_threshold(), gc.get_debug(), len(gc.callbacks))
gc.unfreeze()
