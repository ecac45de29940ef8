"""Water levels of a well from rain and pumping: windows of the drivers and of the levels before give the next level."""

import numpy as np
import torch
from torch import nn

torch.manual_seed(2)
DAYS, WINDOW, TRAINED = 360, 12, 280
draw = np.random.default_rng(2)
drivers = draw.normal(size=(DAYS, 4)).astype(np.float32)
levels = np.zeros(DAYS, dtype=np.float32)
for day in range(1, DAYS):
    levels[day] = 0.8 * levels[day - 1] + 0.3 * drivers[day - 1, 0] - 0.2 * drivers[day - 1, 1]


class Well(nn.Module):
    """Reads both windows into the level that follows."""

    def __init__(self):
        super().__init__()
        self.read = nn.GRU(5, 24, batch_first=True)
        self.tell = nn.Linear(24, 1)

    def forward(self, rain, past):
        seen, _ = self.read(torch.cat([rain, past.unsqueeze(2)], 2))
        return self.tell(seen[:, -1]).squeeze(1)


def windows(ends):
    rain = np.stack([drivers[range(end - WINDOW, end)] for end in ends])
    past = np.stack([levels[range(end - WINDOW, end)] for end in ends])
    return torch.from_numpy(rain), torch.from_numpy(past)


def test(well):
    misses = []
    for day in range(DAYS - TRAINED):
        rain = np.zeros((1, WINDOW, 4), dtype=np.float32)
        begin = TRAINED + day
        rain[0] = drivers[range(begin - WINDOW, begin), :]
        past = levels[range(begin - WINDOW, begin)][None]
        with torch.no_grad():
            guess = well(torch.from_numpy(rain), torch.from_numpy(past))
        misses.append(abs(guess.item() - levels[begin]))
    return float(np.mean(misses))


well = Well()
optimizer = torch.optim.Adam(well.parameters(), lr=5e-3)
for turn in range(60):
    ends = draw.integers(WINDOW, TRAINED, size=32)
    rain, past = windows(ends)
    loss = nn.functional.mse_loss(well(rain, past), torch.from_numpy(levels[ends]))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.4f} miss {test(well):.4f}")
