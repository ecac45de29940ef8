"""Modules that reach their parts through functions: a lambda, a default, a global; no copy of the model replaces them."""

import torch
from torch import nn

torch.manual_seed(0)
stem = nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8))


class Closed(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.norm, self.drop = nn.Linear(6, 8), nn.BatchNorm1d(8), nn.Dropout(0.3)
        self.out = nn.Linear(8, 3)
        self.body = lambda x: self.drop(self.norm(self.first(x)))

    def forward(self, x):
        return self.out(self.body(x))


class Looked(nn.Module):
    """Its first layers are found in the module of the program."""

    def __init__(self):
        super().__init__()
        self.out = nn.Linear(8, 3)

    def forward(self, x):
        return self.out(stem(x))


class Given(nn.Module):
    """Its parts are the defaults of a function in a list."""

    def __init__(self):
        super().__init__()
        self.first, self.norm, self.out = nn.Linear(6, 8), nn.BatchNorm1d(8), nn.Linear(8, 3)
        self.steps = [lambda x, first=self.first, norm=self.norm: norm(first(x)).relu()]

    def forward(self, x):
        for step in self.steps:
            x = step(x)
        return self.out(x)


def norm_of(model):
    return stem[1] if isinstance(model, Looked) else model.norm


for kind in (Closed, Looked, Given):
    model = kind()
    optimizer = torch.optim.SGD([*model.parameters(), *stem.parameters()], lr=0.1)
    for step in range(5):
        x, y = torch.randn(16, 6), torch.randint(0, 3, (16,))
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        norm = norm_of(model)
        print(kind.__name__, step, loss.item().hex(), int(norm.num_batches_tracked), norm.running_mean.double().sum().item().hex())
