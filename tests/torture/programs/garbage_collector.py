"""The garbage collector disabled, frozen, with callbacks and odd thresholds; weak references to tensors and models must still die in time."""
import gc
import weakref

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
alive = []
for step in range(5):
    x = torch.randn(4, 3)
    h = model[0](x)
    loss = model[2](model[1](h)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    alive += [weakref.ref(h), weakref.ref(loss)]
    print(step, loss.item().hex(), gc.isenabled(), [r() is not None for r in alive].count(True))
del h, loss, x
print([r() is not None for r in alive].count(True), events)
gone, gone_too = weakref.ref(model), weakref.ref(optimizer)
weight = weakref.ref(model[0].weight)
del model, optimizer
gc.enable()
gc.collect()
print(gone() is None, gone_too() is None, weight() is None, gc.get_freeze_count() > 0, events[-2:])
gc.unfreeze()
print(gc.get_threshold(), gc.get_debug())
