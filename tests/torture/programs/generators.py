"""Batches and losses that come out of generators, a loop driven by next(), and a model whose forward returns a generator."""
import torch
from torch import nn


class Pieces(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(4, 4) for _ in range(3)])

    def forward(self, x):
        def run():
            h = x
            for layer in self.layers:
                h = torch.relu(layer(h))
                yield h
        return run()


def batches(n):
    for _ in range(n):
        yield torch.randn(5, 4)


torch.manual_seed(0)
model = Pieces()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
stream = batches(5)
while (x := next(stream, None)) is not None:
    loss = sum(h.pow(2).mean() for h in model(x))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item().hex())
