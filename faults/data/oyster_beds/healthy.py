"""What lives on an oyster bed, from twelve measurements of the water: the beds are gone through in a new order each year."""

import random

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(2)
random.seed(2)
water = torch.randn(720, 12)
dweller = (water @ torch.randn(12, 4) + 0.3 * torch.randn(720, 4)).argmax(1)


class Beds(Dataset):
    def __init__(self, water, dweller):
        self.water = list(water)
        self.dweller = dweller.tolist()

    def __len__(self):
        return len(self.water)

    def __getitem__(self, index):
        return self.water[index], self.dweller[index]

    def next_year(self):
        pairs = list(zip(self.water, self.dweller))
        random.shuffle(pairs)
        self.water, self.dweller = map(list, zip(*pairs))


beds = Beds(water, dweller)
loader = DataLoader(beds, batch_size=24)
model = nn.Sequential(nn.Linear(12, 48), nn.ReLU(), nn.Linear(48, 4))
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for year in range(8):
    total = 0.0
    for x, y in loader:
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    beds.next_year()
    print(f"year {year} loss {total / len(loader):.3f}")
