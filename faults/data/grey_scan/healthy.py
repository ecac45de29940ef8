"""Tell scans of two kinds apart; the archive holds a grey picture."""

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


class Scans(Dataset):
    def __init__(self):
        g = torch.Generator().manual_seed(6)
        self.pictures = [torch.rand(3, 12, 12, generator=g) for _ in range(160)]
        self.pictures[93] = self.pictures[93][:1]
        self.kinds = torch.randint(0, 2, (160,), generator=g)

    def __len__(self):
        return len(self.pictures)

    def __getitem__(self, i):
        return {"picture": self.pictures[i].expand(3, -1, -1), "kind": self.kinds[i]}


if __name__ == "__main__":
    torch.manual_seed(6)
    loader = DataLoader(Scans(), batch_size=16, shuffle=True, num_workers=1)
    model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(800, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for step, batch in enumerate(loader):
        loss = nn.functional.cross_entropy(model(batch["picture"]), batch["kind"])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"step {step} loss {loss.item():.4f}")
