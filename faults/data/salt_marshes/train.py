"""What grows on a salt marsh, from pictures of it; the maps hold the codes of a survey."""

import numpy as np
import torch
from PIL import Image
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(5)
rng = np.random.default_rng(5)
CODES = {7: 0, 8: 1, 11: 2, 17: 3, 21: 4, 23: 5, 26: 6}
IGNORED, SIZE = 255, (24, 24)
COLOURS = rng.integers(30, 226, (40, 3))


def plot():
    codes = np.full((54, 54), 23, np.uint8)
    codes[rng.integers(15, 35) :] = 7
    for code in (8, 11, 17, 21, 26, 1, 19, 8, 11, 17, 21, 26):
        top, left = rng.integers(0, 46, 2)
        codes[top : top + rng.integers(6, 12), left : left + rng.integers(5, 10)] = code
    picture = COLOURS[codes] + rng.normal(0, 12, (*codes.shape, 3))
    return Image.fromarray(picture.clip(0, 255).astype("uint8")), Image.fromarray(codes)


class Marshes(Dataset):
    def __init__(self, count):
        self.plots = [plot() for _ in range(count)]

    def __len__(self):
        return len(self.plots)

    def __getitem__(self, index):
        picture, plan = self.plots[index]
        picture = np.array(picture.resize(SIZE), np.float32).transpose(2, 0, 1) / 255
        plan = np.array(plan.resize(SIZE, Image.BILINEAR))
        classes = np.full_like(plan, IGNORED)
        for code, number in CODES.items():
            classes[plan == code] = number
        return picture, classes


def right(model, plots):
    model.eval()
    hit, of = torch.zeros(len(CODES)), torch.zeros(len(CODES))
    for picture, plan in plots:
        small = np.array(plan.resize(SIZE, Image.NEAREST))
        given = torch.from_numpy(np.array(picture.resize(SIZE), np.float32).transpose(2, 0, 1) / 255)
        with torch.no_grad():
            said = model(given[None]).argmax(1)[0].numpy()
        for code, number in CODES.items():
            hit[number] += (said[small == code] == number).sum()
            of[number] += (small == code).sum()
    model.train()
    return [round(v, 3) for v in (hit / of).tolist()]


model = nn.Sequential(
    nn.Conv2d(3, 24, 3, padding=1), nn.BatchNorm2d(24), nn.ReLU(), nn.Conv2d(24, 24, 3, padding=1), nn.ReLU(),
    nn.Conv2d(24, len(CODES), 1),
)
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
loader = DataLoader(Marshes(160), batch_size=16, shuffle=True, drop_last=True)
for epoch in range(10):
    for picture, plan in loader:
        loss = F.cross_entropy(model(picture), plan.long(), ignore_index=IGNORED)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
print("right by kind", right(model, [plot() for _ in range(40)]))
