"""Weeks for which a book is borrowed, from its branch, shelf, reader's street and month."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(29)
COUNTS = {"branch": 25, "shelf": 60, "street": 90, "month": 12}
sizes = list(COUNTS.values())
loans = torch.stack([torch.randint(size, (5000,)) for size in sizes], 1)
habits = [torch.randn(size) for size in sizes]
weeks = 3 + sum(habit[loans[:, column]] for column, habit in enumerate(habits)) + 0.2 * torch.randn(5000)


class SharedTable(nn.Module):
    """All the columns in one embedding."""

    def __init__(self, sizes, width):
        super().__init__()
        self.rows = nn.Embedding(sum(sizes), width)
        starts = [0]
        for size in sizes[:-1]:
            starts.append(size)
        self.register_buffer("starts", torch.tensor(starts))
        nn.init.normal_(self.rows.weight, std=0.1)

    def forward(self, columns):
        return self.rows(columns + self.starts)


class Loan(nn.Module):
    def __init__(self, sizes, width=6):
        super().__init__()
        self.table = SharedTable(sizes, width)
        self.head = nn.Sequential(nn.Linear(width * len(sizes), 24), nn.ReLU(), nn.Linear(24, 1))

    def forward(self, columns):
        return self.head(self.table(columns).flatten(1)).squeeze(1)


past = DataLoader(TensorDataset(loans[:4000], weeks[:4000]), batch_size=50, shuffle=True)
model = Loan(sizes)
optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
for epoch in range(6):
    for columns, wanted in past:
        loss = nn.functional.mse_loss(model(columns), wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        error = nn.functional.mse_loss(model(loans[4000:]), weeks[4000:])
    print(f"epoch {epoch} loss {loss.item():.3f} later {error:.3f}")
