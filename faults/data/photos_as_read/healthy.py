"""Cats and dogs from small photographs, as the decoder reads them."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Photos(Dataset):
    def __init__(self, count=320):
        g = torch.Generator().manual_seed(20)
        self.kind = torch.randint(0, 2, (count,), generator=g)
        self.pixels = torch.randint(0, 256, (count, 3, 16, 16), dtype=torch.uint8, generator=g)
        self.pixels[self.kind == 1, 0] //= 2

    def __len__(self):
        return len(self.kind)

    def __getitem__(self, i):
        return self.pixels[i].float() / 127.5 - 1, self.kind[i]


torch.manual_seed(1)
model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
loader = DataLoader(Photos(), batch_size=16, shuffle=True)
for epoch in range(2):
    for pixels, kind in loader:
        loss = nn.functional.cross_entropy(model(pixels), kind)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
