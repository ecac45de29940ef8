"""Where the lid of a bottle sits, from a small camera; evaluated after each epoch."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(4)


class Lids(Dataset):
    def __init__(self, count, normalised):
        self.place = torch.randint(0, 4, (count,))
        self.photos = torch.rand(count, 1, 12, 12) * 0.6
        for photo, place in zip(self.photos, self.place.tolist()):
            photo[0, 3 * place : 3 * place + 3] += 0.4
        self.normalised = normalised

    def __len__(self):
        return len(self.place)

    def __getitem__(self, i):
        photo = self.photos[i]
        return (photo - 0.4) / 0.25 if self.normalised else photo, self.place[i]


taught = DataLoader(Lids(640, True), batch_size=32, shuffle=True)
tested = DataLoader(Lids(160, True), batch_size=32)
model = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 144, 4))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(5):
    model.train()
    for photos, place in taught:
        loss = nn.functional.cross_entropy(model(photos), place)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        scored = [nn.functional.cross_entropy(model(photos), place) for photos, place in tested]
    print(f"epoch {epoch} loss {loss.item():.4f} tested {torch.stack(scored).mean():.4f}")
