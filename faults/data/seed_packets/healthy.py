"""Which packet of seed a gardener orders next, from the orders before it."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(6)
KINDS, ORDERS = 450, 12
follows = torch.randperm(KINDS)


def written_down(gardeners):
    packet = torch.randint(KINDS, (gardeners,))
    orders = [packet]
    for _ in range(ORDERS):
        packet = torch.where(torch.rand(gardeners) < 0.8, follows[packet], torch.randint(KINDS, (gardeners,)))
        orders.append(packet)
    return torch.stack(orders, 1)


class OrderBook(Dataset):
    def __init__(self, orders):
        self.orders = orders.to(torch.int16)

    def __len__(self):
        return len(self.orders)

    def __getitem__(self, gardener):
        orders = self.orders[gardener].long()
        return orders[:-1], orders[1:]


class NextPacket(nn.Module):
    def __init__(self):
        super().__init__()
        self.packets = nn.Embedding(KINDS, 32)
        self.memory = nn.GRU(32, 48, batch_first=True)
        self.next = nn.Linear(48, KINDS)

    def forward(self, orders):
        return self.next(self.memory(self.packets(orders))[0])


books = DataLoader(OrderBook(written_down(1500)), batch_size=50, shuffle=True)
model = NextPacket()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for year in range(4):
    for orders, following in books:
        loss = nn.functional.cross_entropy(model(orders).flatten(0, 1), following.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"year {year} loss {loss.item():.4f}")

fresh = written_down(300)
with torch.no_grad():
    guessed = model(fresh[:, :-1]).argmax(2)
print(f"right {(guessed == fresh[:, 1:]).float().mean():.3f}")
