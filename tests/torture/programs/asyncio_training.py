"""An asyncio loop trains: batches from an async generator, a step in the loop, another in asyncio.to_thread, tasks cancelled and gathered."""
import asyncio
import contextvars

import torch
from torch import nn

who = contextvars.ContextVar("who", default="nobody")


async def batches(seed, n):
    g = torch.Generator().manual_seed(seed)
    for _ in range(n):
        await asyncio.sleep(0)
        yield torch.randn(4, 3, generator=g)


def build(seed):
    g = torch.Generator().manual_seed(seed)
    model = nn.Linear(3, 1)
    with torch.no_grad():
        for p in model.parameters():
            p.copy_(torch.randn(p.shape, generator=g))
    return model, torch.optim.SGD(model.parameters(), lr=0.05)


def step(model, optimizer, x):
    loss = model(x).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item().hex()


async def train(name, seed, threaded):
    who.set(name)
    model, optimizer = build(seed)
    seen = []
    async for x in batches(seed, 4):
        seen.append(await asyncio.to_thread(step, model, optimizer, x) if threaded else step(model, optimizer, x))
        await asyncio.sleep(0)
    return who.get(), seen


async def endless():
    model, optimizer = build(9)
    try:
        while True:
            step(model, optimizer, torch.ones(1, 3))
            await asyncio.sleep(0)
    except asyncio.CancelledError:
        return "cancelled"


async def main():
    spinning = asyncio.create_task(endless())
    for result in await asyncio.gather(train("a", 1, False), train("b", 2, False)):
        print(*result)
    spinning.cancel()
    print(await spinning)
    print(*await train("c", 3, True))
    try:
        async with asyncio.timeout(0.01):
            await asyncio.sleep(10)
    except TimeoutError:
        print("timeout")


asyncio.run(main())
