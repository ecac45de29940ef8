"""inspect.signature, pickling by reference, qualified names and subclass checks of the functions we could have patched."""
import inspect
import pickle

import torch
from torch import nn
from torch.utils.data import DataLoader

NAMES = ["Tensor.backward", "optim.Optimizer.step", "optim.SGD.step", "optim.AdamW.step", "nn.Module.__call__", "nn.utils.clip_grad_norm_",
         "amp.GradScaler.step", "autograd.backward", "utils.data.DataLoader.__iter__", "nn.functional.cross_entropy", "optim.lr_scheduler.StepLR.step"]
for name in NAMES:
    thing = torch
    for part in name.split("."):
        thing = getattr(thing, part)
    print(name, thing.__module__, thing.__qualname__, inspect.signature(thing), (thing.__doc__ or "")[:20].strip())
print(pickle.loads(pickle.dumps(torch.nn.utils.clip_grad_norm_)) is torch.nn.utils.clip_grad_norm_, DataLoader.__mro__[0].__name__)
model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
print(sorted(vars(model)), sorted(vars(optimizer)), len(model._forward_hooks), len(model._forward_pre_hooks), len(optimizer._optimizer_step_pre_hooks))
for _ in range(2):
    loss = model(torch.ones(3, 2)).sum()
    loss.backward()
    optimizer.step()
print(sorted(vars(model)), len(model._forward_hooks), len(model._forward_pre_hooks), len(model.weight._backward_hooks or ()))
