"""The next note of a tune, by a small transformer; the targets are smoothed by hand."""

import torch
from torch import nn

NOTES, LENGTH = 12, 10
torch.manual_seed(41)
first = torch.randint(0, NOTES, (512, 1))
stride = torch.randint(1, 4, (512, LENGTH + 1))
tunes = (first + stride.cumsum(1)) % NOTES


class Tunes(nn.Module):
    """Scores of the next note."""

    def __init__(self, dim=24):
        super().__init__()
        self.table, self.place = nn.Embedding(NOTES, dim), nn.Embedding(LENGTH, dim)
        self.ask, self.key, self.value = nn.Linear(dim, dim), nn.Linear(dim, dim), nn.Linear(dim, dim)
        self.head = nn.Linear(dim, NOTES)

    def forward(self, ids):
        x = self.table(ids) + self.place(torch.arange(LENGTH))
        scores = self.ask(x) @ self.key(x).transpose(1, 2) / 5
        scores = scores + 0.0
        return self.head(x + torch.softmax(scores, dim=-1) @ self.value(x))


def smoothed(target, smoothing=0.1):
    rest = torch.full((target.numel(), NOTES), smoothing / (NOTES - 1))
    return rest.scatter(1, target.reshape(-1, 1), 1 - smoothing)


model = Tunes()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for step in range(160):
    batch = tunes[torch.randint(0, 512, (32,))]
    logp = torch.log_softmax(model(batch[:, :-1]), dim=-1)
    loss = nn.functional.kl_div(logp.flatten(0, 1), smoothed(batch[:, 1:]), reduction="batchmean")
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 40 == 39:
        print(f"step {step} loss {loss.item():.4f}")
