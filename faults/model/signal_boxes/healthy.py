"""Bell codes between signal boxes: a recurrent model that says which code follows, from the logbooks of shifts."""

import random

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset

CODES, WIDTH = 18, 32


def shift_log(draw):
    code, log = draw.randrange(1, CODES), []
    for _ in range(draw.randrange(14, 26)):
        log.append(code)
        code = (5 * code + draw.choice((1, 1, 1, 4, 9))) % (CODES - 1) + 1
    return log


class Logbooks(Dataset):
    def __init__(self, count, seed):
        self.logs = [shift_log(random.Random(seed + number)) for number in range(count)]

    def __len__(self):
        return len(self.logs)

    def __getitem__(self, index):
        log = self.logs[index]
        return {"codes": log[:-1], "labels": log[1:]}


def side_by_side(samples):
    rows, longest = {"codes": [], "labels": []}, max(len(sample["codes"]) for sample in samples)
    for sample in samples:
        missing = longest - len(sample["codes"])
        rows["labels"].append(sample["labels"] + [-100] * missing)
        rows["codes"].append(sample["codes"] + [0] * missing)
    return {name: torch.tensor(values) for name, values in rows.items()}


class Bells(nn.Module):
    def __init__(self):
        super().__init__()
        self.codes, self.head = nn.Embedding(CODES, WIDTH), nn.Linear(48, CODES)
        self.read = nn.GRU(WIDTH, 48, batch_first=True)

    def forward(self, codes):
        return self.head(self.read(self.codes(codes))[0])


torch.manual_seed(12)
model = Bells()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
loader = DataLoader(Logbooks(800, 3), batch_size=16, shuffle=True, collate_fn=side_by_side)
for epoch in range(4):
    for batch in loader:
        loss = F.cross_entropy(model(batch["codes"]).flatten(0, 1), batch["labels"].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
