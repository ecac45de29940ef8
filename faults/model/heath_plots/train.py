"""Heath species from leaf measurements; blocks of the network are frozen one after another while it trains."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Heath(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([nn.Linear(12, 32), nn.Linear(32, 32), nn.Linear(32, 5)])

    def forward(self, x):
        for block in self.blocks[:-1]:
            x = torch.relu(block(x))
        return self.blocks[-1](x)


class Freezer:
    """Freezes one block more at the begin of each round."""

    def __init__(self, model):
        self.model = model

    def on_round(self, done):
        for place, block in enumerate(self.model.blocks):
            for weight in block.parameters():
                weight.requires_grad = place >= done


def train_round(model, optimizer, rows):
    for leaves, species in rows:
        loss = nn.functional.cross_entropy(model(leaves), species)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


torch.manual_seed(4)
x = torch.randn(640, 12)
y = (x @ torch.randn(12, 5)).argmax(1)
model = Heath()
freezer = Freezer(model)
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
for number in range(4):
    freezer.on_round(number)
    print(f"round {number} loss {train_round(model, optimizer, DataLoader(TensorDataset(x, y), 32, shuffle=True)):.4f}")
