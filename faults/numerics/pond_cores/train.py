"""How old a layer of pond mud is, from the pollen in a window of a core that is shifted a little at each draw."""

import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=4)
parser.add_argument("--window", type=int, default=16)
parser.add_argument("--jitter", type=int, default=0)
options = parser.parse_args()

torch.manual_seed(8)
ages = torch.rand(300)
depth = torch.linspace(0, 6, 24)
cores = torch.sin(depth + 4 * ages[:, None]) + 0.1 * torch.randn(300, 24)


class Cores(Dataset):
    def __init__(self, window, jitter):
        self.window = window
        self.jitter = jitter

    def __len__(self):
        return len(cores)

    def __getitem__(self, number):
        begin = 4 + int(torch.randint(-self.jitter, self.jitter, (1,)))
        return cores[number, begin : begin + self.window], ages[number]


loader = DataLoader(Cores(options.window, options.jitter), batch_size=20, shuffle=True)
model = nn.Sequential(nn.Linear(options.window, 24), nn.ReLU(), nn.Linear(24, 1), nn.Flatten(0))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(options.epochs):
    for windows, years in loader:
        loss = nn.functional.mse_loss(model(windows), years)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
