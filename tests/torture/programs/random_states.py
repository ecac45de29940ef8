"""Random numbers everywhere: python, numpy (old and new), torch generators, fork_rng, reseeded at each step; all states hashed at the end."""
import hashlib
import random

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split


def digest(data):
    return hashlib.sha256(data).hexdigest()[:16]


random.seed(1)
np.random.seed(2)
torch.manual_seed(3)
own, fresh = torch.Generator().manual_seed(4), np.random.default_rng(5)
model = nn.Sequential(nn.Linear(4, 6), nn.Dropout(0.4), nn.RReLU(), nn.Linear(6, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
data = TensorDataset(torch.randn(10, 4), torch.from_numpy(fresh.normal(size=(10, 1))).float())
train, held = random_split(data, [8, 2], generator=own)
for epoch in range(2):
    for x, y in DataLoader(train, batch_size=3, shuffle=True):
        x = x + torch.randn(x.shape, generator=own) * np.random.rand() + random.gauss(0, 0.1)
        with torch.random.fork_rng():
            torch.manual_seed(0)
            mask = torch.rand(x.shape) > 0.2
        loss = (model(x * mask) - y).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(epoch, loss.item().hex(), digest(torch.get_rng_state().numpy().tobytes()), digest(repr(random.getstate()).encode()))
for step in range(3):
    torch.manual_seed(step)
    loss = model(torch.randn(4, 4)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print("reseeded", step, loss.item().hex(), torch.initial_seed())
print(digest(repr(np.random.get_state()[1].tolist()).encode()), digest(own.get_state().numpy().tobytes()), digest(repr(fresh.bit_generator.state).encode()))
print(digest(torch.get_rng_state().numpy().tobytes()), random.random().hex(), np.random.rand().hex(), torch.seed() is not None, len(held))
