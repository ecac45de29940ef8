"""Two tasks with loaders of their own that alternate: the loss has two levels; an auxiliary head is trained every other step only."""
import itertools
import sys
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
body, classes, amount = nn.Sequential(nn.Linear(10, 48), nn.ReLU()), nn.Linear(48, 6), nn.Linear(48, 1)
model = nn.ModuleDict({"body": body, "classes": classes, "amount": amount})
x = torch.randn(640, 10)
first = DataLoader(TensorDataset(x, (x[:, 0] * 3).long().clamp(-2, 3) + 2), batch_size=32, shuffle=True)
second = DataLoader(TensorDataset(x, 40 * x[:, 1] + 100), batch_size=16, shuffle=True)
opt = torch.optim.Adam(model.parameters(), 3e-3)
for epoch in range(6):
    for (a, b), (c, d) in zip(first, itertools.cycle(second)):
        for loss in (F.cross_entropy(classes(body(a)), b), F.mse_loss(amount(body(c)).squeeze(1), d)):
            opt.zero_grad()
            loss.backward()
            opt.step()
print(loss.item())
