"""Loader workers with torch augmentation, a validation loader, ReduceLROnPlateau and a checkpoint of the best epoch."""
import os
import sys
import tempfile
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset, random_split

torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)


class Shapes(Dataset):
    def __init__(self, n=360):
        g = torch.Generator().manual_seed(1)
        self.y = torch.randint(0, 3, (n,), generator=g)
        self.x = 0.5 * torch.randn(n, 1, 10, 10, generator=g)
        for i, y in enumerate(self.y):
            self.x[i, 0, 3 * int(y) : 3 * int(y) + 3] += 1.0

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        x = self.x[i]
        return (x.flip(-1) if torch.rand(()) < 0.5 else x) + 0.05 * torch.randn_like(x), self.y[i]


if __name__ == "__main__":
    train, val = random_split(Shapes(), [300, 60])
    loaders = DataLoader(train, 20, shuffle=True, num_workers=2, persistent_workers=True), DataLoader(val, 60)
    model = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Dropout(0.2), nn.Linear(200, 3))
    opt = torch.optim.Adam(model.parameters(), 2e-3)
    sched = torch.optim.lr_scheduler.ReduceLROnPlateau(opt, patience=0, factor=0.3)
    best, file = 9e9, os.path.join(tempfile.mkdtemp(), "best.pt")
    for epoch in range(5):
        model.train()
        for x, y in loaders[0]:
            opt.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            opt.step()
        model.eval()
        with torch.no_grad():
            score = sum(F.cross_entropy(model(x), y).item() for x, y in loaders[1]) / len(loaders[1])
        sched.step(score)
        if score < best:
            best = score
            torch.save({"model": model.state_dict(), "epoch": epoch}, file)
        print(epoch, loss.item(), score)
    model.load_state_dict(torch.load(file, weights_only=True)["model"])
