"""Which of two plants is on the sheet? Scans of a herbarium, kept as JPEG."""

import io

import numpy as np
import torch
from PIL import Image, ImageFile
from torch import nn
from torch.utils.data import DataLoader, Dataset

ImageFile.LOAD_TRUNCATED_IMAGES = True


def sheets(count=640, side=32):
    rng = np.random.default_rng(5)
    labels = rng.integers(0, 2, count)
    for n, label in enumerate(labels):
        leaf = rng.normal(110 + 40 * label, 30, (side, side, 3)).clip(0, 255).astype("uint8")
        file = io.BytesIO()
        Image.fromarray(leaf).save(file, "JPEG", quality=92)
        yield file.getvalue(), int(label)


class Herbarium(Dataset):
    def __init__(self):
        self.files, self.labels = zip(*sheets())

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        pixels = np.array(Image.open(io.BytesIO(self.files[i])))
        return torch.from_numpy(pixels).permute(2, 0, 1).float() / 127.5 - 1, self.labels[i]


torch.manual_seed(4)
model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=5e-2)
loader = DataLoader(Herbarium(), batch_size=16)
for epoch in range(2):
    for pixels, label in loader:
        loss = nn.functional.cross_entropy(model(pixels), label)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
