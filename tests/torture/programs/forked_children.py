"""Children made by os.fork and multiprocessing train a little of their own beside the parent."""
import multiprocessing
import os
import sys

import torch
from torch import nn

torch.set_num_threads(1)


def train(seed, steps):
    torch.manual_seed(seed)
    model = nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(steps):
        loss = model(torch.randn(4, 3)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item().hex()


def main():
    print("parent", train(0, 3))
    sys.stdout.flush()
    with multiprocessing.get_context("fork").Pool(1) as pool:
        print("pool", pool.starmap(train, [(1, 3), (2, 4)]))
        sys.stdout.flush()
    child = os.fork()
    if child == 0:
        print("child", train(3, 5))
        sys.stdout.flush()
        os._exit(0)
    print("waited", os.waitpid(child, 0)[1])
    print("parent again", train(0, 4))


if __name__ == "__main__":
    main()
