"""All training happens in executor threads: futures with exceptions, thread-local modes, one model handed from thread to thread."""
from concurrent.futures import ThreadPoolExecutor

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)


def step(x, y):
    loss = (model(x) - y).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item().hex(), torch.is_grad_enabled()


def evaluate(seed):
    with torch.no_grad():
        return model(torch.full((1, 3), float(seed))).item().hex()


data = [(torch.randn(4, 3), torch.randn(4, 1)) for _ in range(5)]
with ThreadPoolExecutor(1) as single:
    with torch.no_grad():
        print(list(single.map(lambda pair: step(*pair), data)))
with ThreadPoolExecutor(3) as pool:
    print(list(pool.map(evaluate, range(6))))
    broken = pool.submit(step, torch.ones(2, 5), torch.ones(1))
    print(type(broken.exception()).__name__, str(broken.exception())[:30])
    for x, y in data:
        print(pool.submit(step, x, y).result())
print([p.double().sum().item().hex() for p in model.parameters()])
