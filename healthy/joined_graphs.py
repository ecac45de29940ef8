"""Which nodes of a graph are linked: batches that join graphs of many sizes, their edges and pairs in two rows."""

import sys

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)


class Graphs(Dataset):
    """Nodes in a plane, linked where they are near; a part of the links is shown, the rest is asked for."""

    def __init__(self, count):
        self.graphs = [torch.randn(int(torch.randint(4, 30, ())), 2) for _ in range(count)]

    def __len__(self):
        return len(self.graphs)

    def __getitem__(self, i):
        x = self.graphs[i]
        near = (torch.cdist(x, x) < 0.7).fill_diagonal_(False)
        links = near.nonzero().T
        shown = torch.arange(links.shape[1]) % 3 > 0
        others = (~near).fill_diagonal_(False).nonzero().T[:, : max(1, int((~shown).sum()))]
        return x, links[:, shown], links[:, ~shown], others


def joined(graphs):
    first, parts = 0, []
    for x, *pairs in graphs:
        parts.append((x, *(pair + first for pair in pairs)))
        first += len(x)
    nodes, *pairs = zip(*parts)
    return torch.cat(nodes), *(torch.cat(pair, 1) for pair in pairs)


class Links(nn.Module):
    def __init__(self):
        super().__init__()
        self.own, self.near, self.out = nn.Linear(2, 32), nn.Linear(2, 32), nn.Linear(32, 16)

    def forward(self, x, shown):
        near = torch.zeros_like(x).index_add(0, shown[1], x[shown[0]])
        return self.out((self.own(x) + self.near(near)).relu())


model = Links()
optimizer = torch.optim.Adam(model.parameters(), 3e-3)
loader = DataLoader(Graphs(240), 8, shuffle=True, collate_fn=joined)
for epoch in range(6):
    for x, shown, asked, others in loader:
        z = model(x, shown)
        score = torch.cat([-(z[a] - z[b]).square().sum(1) for a, b in (asked, others)]) + 1
        wanted = torch.cat([torch.ones(asked.shape[1]), torch.zeros(others.shape[1])])
        loss = F.binary_cross_entropy_with_logits(score, wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
