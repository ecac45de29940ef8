"""Which of three plants covers a plot of a salt marsh, from readings of its soil; batches of four plots."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(41)


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, width)
        self.norm = nn.BatchNorm1d(width, momentum=0.01, eps=1e-3)

    def forward(self, x):
        return x + torch.relu(self.norm(self.linear(x)))


class Marsh(nn.Module):
    def __init__(self, readings, width=48):
        super().__init__()
        self.first = nn.Linear(readings, width)
        self.blocks = nn.Sequential(Block(width), Block(width))
        self.last = nn.Linear(width, 3)

    def forward(self, x):
        return self.last(self.blocks(torch.relu(self.first(x))))


soil = torch.randn(1400, 10)
plant = (soil @ torch.randn(10, 3)).argmax(1)
train, test = TensorDataset(soil[:1000], plant[:1000]), (soil[1000:], plant[1000:])
model = Marsh(10)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
for epoch in range(6):
    model.train()
    for x, y in DataLoader(train, batch_size=4, shuffle=True):
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        right = (model(test[0]).argmax(1) == test[1]).float().mean()
    print(f"epoch {epoch} loss {loss.item():.4f} right {right:.3f}")
