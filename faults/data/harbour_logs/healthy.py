"""Learns from the log of a harbour, a line of codes for each ship, how many of its calls were answered."""

import argparse
import random

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--longest", type=int, default=48)
parser.add_argument("--places", type=int, default=48)
args = parser.parse_args()

draw = random.Random(5)
CODES, ANSWERED = 40, 7


class Logs(torch.utils.data.Dataset):
    def __init__(self, count, longest):
        self.longest = longest
        self.lines = [[draw.randrange(1, CODES) for _ in range(draw.randint(5, 46))] for _ in range(count)]
        self.lines[217] = [draw.randrange(1, CODES) for _ in range(57)]

    def __len__(self):
        return len(self.lines)

    def __getitem__(self, at):
        line = self.lines[at][: self.longest]
        return torch.tensor(line), float(line.count(ANSWERED))


class Reader(nn.Module):
    def __init__(self, codes, places):
        super().__init__()
        self.code = nn.Embedding(codes, 16)
        self.place = nn.Embedding(places, 16)
        self.out = nn.Linear(16, 1)

    def forward(self, line):
        at = torch.arange(line.shape[1])
        return self.out(self.code(line).add(self.place(at)).relu().sum(1)).squeeze(1)


torch.manual_seed(1)
model = Reader(CODES, args.places)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(2):
    for line, answered in torch.utils.data.DataLoader(Logs(300, args.longest)):
        loss = nn.functional.mse_loss(model(line), answered.float())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
