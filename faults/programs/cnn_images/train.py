"""One pass over an archive of small microscope images, in the order in which they were taken: which of four textures is it?"""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

COUNT = 11200
BATCH = 32
SIDE = 12
RATE = 0.05


def waves(kind, phase, g):
    axis = torch.arange(SIDE, dtype=torch.float32)
    y, x = torch.meshgrid(axis, axis, indexing="ij")
    lines = [x, y, x + y, x - y]
    image = torch.sin(lines[kind] * 1.3 + phase) * 0.25 + 0.5
    return image + 0.12 * torch.randn(SIDE, SIDE, generator=g)


class Archive(Dataset):
    def __init__(self, count, seed):
        g = torch.Generator().manual_seed(seed)
        self.labels = torch.randint(0, 4, (count,), generator=g)
        phases = 6.28 * torch.rand(count, generator=g)
        self.images = torch.stack([waves(int(k), p, g) for k, p in zip(self.labels, phases)]).unsqueeze(1)

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        image = self.images[i]
        image = (image - image.mean()) / (image.std() + 1e-3)
        return image, self.labels[i]


class Block(nn.Module):
    def __init__(self, inside, outside):
        super().__init__()
        self.conv = nn.Conv2d(inside, outside, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(outside)

    def forward(self, x):
        return F.relu(self.norm(self.conv(x)))


class Textures(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = Block(1, 8)
        self.body = Block(8, 16)
        self.mix = nn.Linear(16, 16)
        self.norm = nn.BatchNorm1d(16)
        self.head = nn.Linear(16, 4)

    def forward(self, x):
        x = F.max_pool2d(self.stem(x), 2)
        x = F.max_pool2d(self.body(x), 2)
        x = x.mean(dim=(2, 3))
        x = F.relu(self.norm(self.mix(x)))
        return self.head(x)


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    hits = sum((model(image).argmax(1) == label).sum().item() for image, label in loader)
    model.train()
    return hits / len(loader.dataset)


def main():
    torch.manual_seed(3)
    archive, held_out = Archive(COUNT, seed=5), Archive(512, seed=6)
    loader = DataLoader(archive, batch_size=BATCH)
    test_loader = DataLoader(held_out, batch_size=128)
    model = Textures()
    optimizer = torch.optim.SGD(model.parameters(), lr=RATE, momentum=0.9, weight_decay=1e-4)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=RATE, total_steps=len(loader), pct_start=0.2)
    seen, correct = 0, 0
    for step, (image, label) in enumerate(loader):
        logits = model(image)
        loss = F.cross_entropy(logits, label, label_smoothing=0.05)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        schedule.step()
        seen += len(label)
        correct += (logits.argmax(1) == label).sum().item()
        if step % 25 == 24:
            print(f"step {step} loss {loss.item():.4f} accuracy {correct / seen:.3f}")
            seen, correct = 0, 0
        if step % 100 == 99:
            print(f"step {step} held out {evaluate(model, test_loader):.3f}")


if __name__ == "__main__":
    main()
