"""How long each postman takes for each street, from a season of rounds: one row of numbers for either."""

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


def read_rounds(count=2400):
    g = torch.Generator().manual_seed(31)
    postman = torch.randint(0, 130, (count,), generator=g)
    street = torch.randint(0, 45, (count,), generator=g)
    pace = torch.rand(130, generator=g)
    length = torch.rand(45, generator=g)
    minutes = 20 * length[street] * (0.5 + pace[postman]) + 0.3 * torch.randn(count, generator=g)
    postmen, streets = int(postman.max()) + 1, int(street.max()) + 1
    return (postman, street, minutes / 10), streets, postmen


class Rounds(Dataset):
    def __init__(self, postman, street, minutes):
        self.postman, self.street, self.minutes = postman, street, minutes

    def __len__(self):
        return len(self.minutes)

    def __getitem__(self, i):
        return self.postman[i], self.street[i], self.minutes[i]


class Walk(nn.Module):
    def __init__(self, postmen, streets, width=8):
        super().__init__()
        self.carrier = nn.Embedding(postmen, width)
        self.way = nn.Embedding(streets, width)
        self.usual = nn.Parameter(torch.zeros(1))

    def forward(self, postman, street):
        return (self.carrier(postman) * self.way(street)).sum(1) + self.usual


torch.manual_seed(31)
rounds, postmen, streets = read_rounds()
loader = DataLoader(Rounds(*rounds), batch_size=48, shuffle=True)
model = Walk(postmen, streets)
optimizer = torch.optim.Adam(model.parameters(), lr=2e-2)
for epoch in range(3):
    for postman, street, minutes in loader:
        loss = nn.functional.mse_loss(model(postman, street), minutes)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
