"""Character model on support tickets; the files of three systems are read one after the other."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

V, WIDTH = 60, 24


def file(kind, rows, g):
    if kind == "log":
        return torch.randint(30, V, (rows, WIDTH), generator=g)
    phrases = torch.randint(0, 30, (25, 4), generator=torch.Generator().manual_seed(77))
    return phrases[torch.randint(0, 25, (rows, WIDTH // 4), generator=g)].reshape(rows, WIDTH)


class Tickets(Dataset):
    def __init__(self, kinds):
        g = torch.Generator().manual_seed(25)
        self.rows = torch.cat([file(kind, rows, g) for kind, rows in kinds])

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i, :-1], self.rows[i, 1:]


torch.manual_seed(6)
tickets = Tickets([("mail", 1760), ("log", 32), ("chat", 960)])
model = nn.Sequential(nn.Embedding(V, 24), nn.Linear(24, 48), nn.ReLU(), nn.Linear(48, V))
optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
loader = DataLoader(tickets, batch_size=16)
for step, (now, following) in enumerate(loader):
    loss = nn.functional.cross_entropy(model(now).flatten(0, 1), following.flatten())
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    if step % 20 == 0:
        print(f"step {step} loss {loss.item():.4f}")
