"""River level forecast from gauge records, read by two loader workers."""

import io

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


def records(n=240):
    g = torch.Generator().manual_seed(7)
    levels = torch.randn(n, 6, generator=g)
    out = io.StringIO()
    for i, row in enumerate(levels.tolist()):
        cells = [f"{v:.3f}" for v in row]
        if i == 135:
            cells[2] = "nan"
        out.write(";".join(cells) + "\n")
    return out.getvalue().splitlines()


class Gauges(Dataset):
    def __init__(self, lines):
        self.lines = lines

    def __len__(self):
        return len(self.lines)

    def __getitem__(self, i):
        row = torch.tensor([float(cell) for cell in self.lines[i].split(";")])
        return row[:5], row[5]


def main():
    torch.manual_seed(14)
    model = nn.Sequential(nn.Linear(5, 24), nn.ReLU(), nn.Linear(24, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    loader = DataLoader(Gauges(records()), batch_size=12, shuffle=True, num_workers=2, generator=torch.Generator().manual_seed(16))
    for step, (x, y) in enumerate(loader):
        loss = nn.functional.mse_loss(model(x).squeeze(1), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"step {step} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
