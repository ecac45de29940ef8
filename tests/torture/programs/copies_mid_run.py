"""deepcopy, pickle, state_dict and torch.save of model and optimizer in the middle of training."""
import copy
import io
import pickle

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 1))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
teacher = copy.deepcopy(model)
for step in range(6):
    x = torch.randn(6, 4)
    loss = (model(x) - teacher(x).detach() - 1).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step == 2:
        model = pickle.loads(pickle.dumps(model))
        other = torch.optim.AdamW(model.parameters(), lr=1e-2)
        other.load_state_dict(copy.deepcopy(optimizer.state_dict()))
        optimizer = other
    if step == 4:
        buffer = io.BytesIO()
        torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, buffer)
        buffer.seek(0)
        saved = torch.load(buffer, weights_only=True)
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
    print(step, loss.item().hex(), len(pickle.dumps(optimizer)), len(pickle.dumps(model)))
print(sorted(vars(model)), sorted(vars(optimizer)), list(model.state_dict()))
