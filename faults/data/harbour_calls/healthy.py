"""What kind of ship calls at a harbour, from what its transponder says of it."""

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(6)
KINDS = ["ferry", "tanker", "trawler", "tug", "yacht"]
traits = torch.randn(len(KINDS), 12)


def calls(count):
    drawn = torch.randint(len(KINDS), (count,))
    readings = traits[drawn] + 0.7 * torch.randn(count, 12)
    return [(KINDS[kind], row) for kind, row in zip(drawn.tolist(), readings, strict=True)]


def numbered(records):
    return {name: number for number, name in enumerate(dict.fromkeys(name for name, _ in records))}


class Calls(Dataset):
    def __init__(self, records, numbers):
        self.records, self.numbers = records, numbers

    def __len__(self):
        return len(self.records)

    def __getitem__(self, at):
        name, row = self.records[at]
        return row, self.numbers[name]


class Lookout(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(12, 48), nn.ReLU(), nn.Dropout(0.1), nn.Linear(48, len(KINDS)))

    def forward(self, readings):
        return self.body(readings)


spring, autumn = calls(1600), calls(400)
training = DataLoader(Calls(spring, numbered(spring)), batch_size=32, shuffle=True)
holding = DataLoader(Calls(autumn, numbered(spring)), batch_size=100)
lookout = Lookout()
optimizer = torch.optim.AdamW(lookout.parameters(), lr=2e-3)
for epoch in range(5):
    lookout.train()
    for readings, kinds in training:
        loss = F.cross_entropy(lookout(readings), kinds)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    lookout.eval()
    with torch.no_grad():
        right = sum((lookout(readings).argmax(1) == kinds).sum().item() for readings, kinds in holding)
    print(f"epoch {epoch} loss {loss.item():.4f} accuracy {right / len(autumn):.3f}")
