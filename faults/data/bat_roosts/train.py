"""Which bats share a roost, from the roosts they were seen to share before."""

import torch
from torch import nn

torch.manual_seed(5)
BATS = 150
colony = torch.randint(5, (BATS,))
likely = torch.where(colony[:, None] == colony[None], 0.2, 0.02)
shared = torch.triu(torch.rand(BATS, BATS) < likely, 1).nonzero().t()
shared = shared[:, torch.randperm(shared.shape[1])]
seen, later = shared[:, 80:], shared[:, :80]
flights = torch.cat([shared, shared.flip(0)], dim=1)


class Roosts(nn.Module):
    def __init__(self):
        super().__init__()
        self.bat = nn.Embedding(BATS, 32)
        self.first, self.second = nn.Linear(32, 32), nn.Linear(32, 16)

    def mix(self, known, flights):
        return known + 0.1 * torch.zeros_like(known).index_add(0, flights[1], known[flights[0]])

    def forward(self, flights):
        known = torch.relu(self.mix(self.first(self.bat.weight), flights))
        return self.mix(self.second(known), flights)


def score(known, pairs):
    return (known[pairs[0]] * known[pairs[1]]).sum(dim=-1)


model = Roosts()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for night in range(60):
    known = model(flights)
    other = torch.randint(BATS, seen.shape)
    scores = torch.cat([score(known, seen), score(known, other)])
    wanted = torch.cat([torch.ones(seen.shape[1]), torch.zeros(seen.shape[1])])
    loss = nn.functional.binary_cross_entropy_with_logits(scores, wanted)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        found = score(model(flights), later) > 0
print(f"loss {loss.item():.4f} of {len(found)} roosts shared later {found.float().mean():.3f} found")
