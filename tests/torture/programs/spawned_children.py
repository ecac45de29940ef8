"""A spawned process trains and sends its weights back through a queue; a second one dies with an exception of its own."""
import sys

import torch
import torch.multiprocessing as mp
from torch import nn


def train(seed, queue):
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    model = nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(3):
        loss = model(torch.randn(4, 3)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    queue.put((seed, loss.item().hex(), model.weight.tolist(), sys.argv[1:], __name__))
    if seed == 2:
        raise SystemExit(9)


if __name__ == "__main__":
    context = mp.get_context("spawn")
    queue = context.SimpleQueue()
    children = [context.Process(target=train, args=(seed, queue)) for seed in (1, 2)]
    for child in children:
        child.start()
        print(queue.get())
        child.join()
        print(child.exitcode)
