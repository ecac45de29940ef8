"""Warnings that torch's Python functions give to whoever called them: the program's own lines, each once, and filters by module."""
import warnings

import torch
from torch import nn

model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)


def one(x):
    return nn.functional.mse_loss(model(x), torch.ones(6))


def other(x):
    return nn.functional.mse_loss(model(x), torch.ones(6)) * 2 + nn.functional.softmax(model(x)).sum() * 0


with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("default")
    for step in range(4):
        x = torch.ones(6, 4)
        optimizer.zero_grad()
        (one(x) + other(x)).backward()
        optimizer.step()
print(sorted((w.filename == __file__, w.lineno) for w in caught))
warnings.filterwarnings("error", module="__main__")
try:
    one(torch.ones(6, 4))
except UserWarning as error:
    print("refused", str(error)[:30])
