"""Own Sampler, own batch_sampler with changing sizes, collate functions that return a namedtuple, a dataclass and a string, nested loaders."""
import collections
import dataclasses

import torch
from torch import nn
from torch.utils.data import ConcatDataset, DataLoader, Dataset, Sampler, Subset, TensorDataset, WeightedRandomSampler, random_split

Pair = collections.namedtuple("Pair", "x y")


@dataclasses.dataclass
class Batch:
    x: torch.Tensor
    y: torch.Tensor
    names: list

    def to(self, *args):
        return dataclasses.replace(self, x=self.x.to(*args))


class Items(Dataset):
    def __getitem__(self, i):
        if i >= 10:
            raise IndexError(i)
        return torch.full((2,), i / 10), float(i % 2), f"n{i}"

    def __len__(self):
        return 10


class Growing(Sampler):
    def __iter__(self):
        at = 0
        for size in (1, 2, 3, 4):
            yield list(range(at, at + size))
            at += size

    def __len__(self):
        return 4


def to_batch(rows):
    return Batch(torch.stack([r[0] for r in rows]), torch.tensor([r[1] for r in rows]), [r[2] for r in rows])


def to_pair(rows):
    return Pair(torch.stack([r[0] for r in rows]), torch.tensor([r[1] for r in rows]))


torch.manual_seed(0)
model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
outer = DataLoader(Items(), batch_sampler=Growing(), collate_fn=to_batch)
inner = DataLoader(Items(), batch_size=4, sampler=WeightedRandomSampler([1.0] * 10, 8), collate_fn=to_pair, drop_last=True)
for batch in outer:
    for pair in inner:
        loss = (model(pair.x).squeeze(1) - pair.y).pow(2).mean() + model(batch.to(torch.float32).x).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(batch.names, type(pair).__name__, loss.item().hex())
left, right = random_split(TensorDataset(torch.randn(6, 2)), [4, 2])
for (x,), word in zip(DataLoader(ConcatDataset([left, Subset(right, [1])]), batch_size=2), DataLoader(["p", "q", "r"], collate_fn="-".join), strict=False):
    print(word, model(x).sum().item().hex())
