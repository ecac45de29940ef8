"""IterableDataset with worker sharding by get_worker_info, persistent workers and worker_init_fn; batch_size=None; abandoned iterators."""
import random

import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset, get_worker_info


class Stream(IterableDataset):
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        info = get_worker_info()
        first, stride = (info.id, info.num_workers) if info else (0, 1)
        for i in range(first, self.n, stride):
            yield torch.full((3,), float(i)) / self.n, random.random() if info else 0.5


def seed_worker(worker):
    random.seed(worker + 100)


def main():
    torch.manual_seed(0)
    model = nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loader = DataLoader(Stream(13), batch_size=3, num_workers=2, persistent_workers=True, worker_init_fn=seed_worker, prefetch_factor=1)
    single = DataLoader(Stream(4), batch_size=None)
    for epoch in range(2):
        for source in (loader, single):
            for i, (x, y) in enumerate(source):
                loss = (model(x) - torch.as_tensor(y, dtype=torch.float)).pow(2).mean()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                print(epoch, i, tuple(x.shape), loss.item().hex())
                if epoch == 1 and i == 2:
                    break
    workers = loader._iterator._workers
    print(len(workers), all(w.is_alive() for w in workers), type(iter(single)).__name__)


if __name__ == "__main__":
    main()
