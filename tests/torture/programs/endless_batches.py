"""Endless iterators: itertools.cycle, a generator that restarts a loader, next() with StopIteration caught, two loaders zipped, early breaks."""
import itertools

import torch
from torch import nn
from torch.utils.data import DataLoader, RandomSampler, TensorDataset

torch.manual_seed(0)
short, long = TensorDataset(torch.randn(5, 3)), TensorDataset(torch.randn(12, 3))
loader_a, loader_b = DataLoader(short, batch_size=2, shuffle=True), DataLoader(long, batch_size=3, sampler=RandomSampler(long, replacement=True, num_samples=9))


def forever(loader):
    while True:
        yield from loader


model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
stream, cycled, hand = forever(loader_a), itertools.cycle(loader_b), iter(loader_b)
for step in range(10):
    (a,), (b,) = next(stream), next(cycled)
    try:
        (c,) = next(hand)
    except StopIteration:
        hand = iter(loader_b)
        (c,) = next(hand)
    loss = model(torch.cat([a, b, c])).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, len(a), len(b), loss.item().hex())
stream.close()
for (x,) in itertools.islice(loader_a, 1):
    print(model(x).sum().item().hex())
for _ in loader_b:
    break
else:
    print("never")
print([len(z[0][0]) for z in zip(loader_a, loader_b, strict=False)], torch.initial_seed(), torch.rand(1).item().hex())
