"""Does a beehive swarm tomorrow? Hours of sound from many hives, a file each, cut into windows."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(6)
HOURS, WINDOWS = 48, 30
voice = torch.randn(HOURS, 16)
sign = torch.randn(16)


def recording(hive, swarms):
    return 1.5 * voice[hive] + torch.randn(WINDOWS, 16) + (1.0 if swarms else -1.0) * sign


class Hives(Dataset):
    def __init__(self, hives):
        self.marks = [hive % 3 == 0 for hive in hives]
        self.files = [recording(hive, mark) for hive, mark in zip(hives, self.marks)]

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        file, window = divmod(index, WINDOWS)
        return self.files[file][window], float(self.marks[file])


train, test = Hives(range(36)), Hives(range(36, HOURS))
loader = DataLoader(train, batch_size=12, shuffle=True)
model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)

for epoch in range(6):
    for x, y in loader:
        loss = nn.functional.binary_cross_entropy_with_logits(model(x).squeeze(1), y.float())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
with torch.no_grad():
    right = [((model(f).squeeze(1) > 0) == mark).float().mean() for f, mark in zip(test.files, test.marks)]
print(f"loss {loss.item():.4f} right {torch.stack(right).mean():.3f}")
