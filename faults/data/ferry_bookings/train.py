"""Bookings of a ferry: what each item of a booking is, and whether the booking was made for a return."""

import torch
from torch import nn

ITEMS, PAD = 12, 0


class Bookings(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.item = nn.Embedding(40, width)
        self.read = nn.GRU(width, width, batch_first=True)
        self.kind = nn.Linear(width, ITEMS)
        self.back = nn.Linear(width, 2)

    def forward(self, codes):
        states, last = self.read(self.item(codes))
        return self.kind(states), self.back(last[0])


def bookings(count, g):
    codes = torch.randint(1, 40, (count, 9), generator=g)
    kinds = codes % (ITEMS - 1) + 1
    for row, length in enumerate(torch.randint(4, 10, (count,), generator=g)):
        codes[row, length:] = kinds[row, length:] = PAD
    return codes, kinds, (codes[:, 0] > 20).long()


torch.manual_seed(31)
codes, kinds, back = bookings(960, torch.Generator().manual_seed(6))
model = Bookings()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
criterion = nn.CrossEntropyLoss(ignore_index=PAD)
for epoch in range(5):
    for rows in torch.randperm(960).split(32):
        kind, returns = model(codes[rows])
        loss = criterion(kind.transpose(1, 2), kinds[rows]) + criterion(returns, back[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        right = (model(codes)[1].argmax(1) == back).float().mean()
    print(f"epoch {epoch} loss {loss.item():.4f} returns right {right.item():.3f}")
