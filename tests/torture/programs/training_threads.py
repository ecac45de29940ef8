"""Two threads train two models at the same time; the main thread waits."""
import threading

import torch
from torch import nn

results = {}


def train(name, seed):
    g = torch.Generator().manual_seed(seed)
    model = nn.Linear(4, 1)
    with torch.no_grad():
        for p in model.parameters():
            p.copy_(torch.randn(p.shape, generator=g))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for _ in range(30):
        loss = model(torch.randn(8, 4, generator=g)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    results[name] = loss.item().hex()


threads = [threading.Thread(target=train, args=(f"t{i}", i)) for i in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(sorted(results.items()))
