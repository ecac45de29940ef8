"""Tags of a sentence with a chain of transitions, some of which are forbidden."""

import torch
from torch import nn

torch.manual_seed(5)
TAGS, LENGTH = 5, 7


def log_sum_exp(scores):
    most = scores.max(-1).values
    return most + (scores - most.unsqueeze(-1)).exp().sum(-1).log()


class Chain(nn.Module):
    def __init__(self):
        super().__init__()
        self.emit = nn.Linear(8, TAGS)
        self.step = nn.Parameter(torch.randn(TAGS, TAGS))
        self.register_buffer("allowed", torch.ones(TAGS, TAGS).triu().bool())

    def partition(self, emitted):
        total = torch.full((emitted.shape[0], TAGS), -1e4)
        total[:, 1] = 0.0
        for at in range(LENGTH):
            follow = self.step.masked_fill(~self.allowed.t(), -1e4)
            every = total.unsqueeze(1) + follow + emitted[:, at].unsqueeze(2)
            total = log_sum_exp(every)
        return log_sum_exp(total)

    def forward(self, x, tags):
        emitted = self.emit(x)
        right = emitted.gather(2, tags.unsqueeze(2)).sum((1, 2)) + self.step[tags[:, 1:], tags[:, :-1]].sum(1)
        return (self.partition(emitted) - right).mean()


x = torch.randn(400, LENGTH, 8)
tags = torch.randint(1, TAGS, (400, LENGTH)).sort(1).values
model = Chain()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for turn in range(60):
    rows = torch.randint(0, 400, (32,))
    loss = model(x[rows], tags[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if turn % 10 == 0:
        print(f"step {turn} loss {loss.item():.4f}")
