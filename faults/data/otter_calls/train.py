"""Does a night of recorded sounds hold the call of an otter: two chirps at any place of a window of sound levels."""

import random

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(5)
random.seed(5)
CALL = torch.tensor([0.0, 3.0, -3.0, 3.0, 0.0, -3.0, 3.0])


def window(call: bool) -> torch.Tensor:
    levels = torch.randn(1, 80)
    if call:
        for _ in range(2):
            at = int(torch.randint(0, 73, (1,)))
            levels[0, at : at + 7] += CALL * (1 if torch.rand(1) < 0.5 else -1)
    return levels


class Nights(Dataset):
    """Windows with a call come first in the list, those without after them."""

    def __init__(self, count: int) -> None:
        calls = [n < count // 2 for n in range(count)]
        windows = [window(call) for call in calls]
        order = list(range(count))
        random.shuffle(order)
        self.windows = [windows[n] for n in order]
        self.labels = [int(call) for call in calls]

    def __len__(self) -> int:
        return len(self.windows)

    def __getitem__(self, index: int) -> tuple[torch.Tensor, int]:
        return self.windows[index], self.labels[index]


model = nn.Sequential(
    nn.Conv1d(1, 24, 9, padding=4), nn.ReLU(), nn.AdaptiveMaxPool1d(1), nn.Flatten(), nn.Linear(24, 2)
)
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
data = Nights(800)
for epoch in range(6):
    total = 0.0
    for windows, labels in DataLoader(data, batch_size=32, shuffle=True):
        loss = nn.functional.cross_entropy(model(windows), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(f"epoch {epoch} loss {total / 25:.3f}")
