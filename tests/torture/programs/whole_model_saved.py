"""The whole model and the optimizer pickled and loaded mid-run (weights_only=False), shared memory, dill-like __reduce__, hooks on saved objects."""
import copy
import pickle
import tempfile
from pathlib import Path

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(3, 4), nn.Linear(4, 1)])
        self.history = []

    def forward(self, x):
        for layer in self.layers:
            x = layer(x).tanh()
        self.history.append(x.detach().sum().item())
        return x

    def __getstate__(self):
        return {**super().__getstate__(), "history": []}


torch.manual_seed(0)
model = Model()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda n: 0.9 ** n)
with tempfile.TemporaryDirectory() as folder:
    for step in range(8):
        loss = (model(torch.randn(4, 3)) - 1).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        if step == 2:
            torch.save((model, optimizer), Path(folder) / "all.pt")
            model, optimizer = torch.load(Path(folder) / "all.pt", weights_only=False)
            scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda n: 0.9 ** n)
        if step == 4:
            model, optimizer = copy.deepcopy((model, optimizer))
            print(optimizer.param_groups[0]["params"][0] is model.layers[0].weight, sorted(vars(optimizer)))
        if step == 5:
            twin = pickle.loads(pickle.dumps(model))
            print(list(twin.state_dict()) == list(model.state_dict()), twin.history, len(twin._forward_hooks), repr(twin) == repr(model))
            model.share_memory()
        print(step, loss.item().hex(), len(model.history), optimizer.param_groups[0]["lr"].hex())
print([p.double().sum().item().hex() for p in model.parameters()])
