"""Which trees of an orchard have canker, from what was measured at each tree and at those beside it."""

import torch
from torch import nn

torch.manual_seed(4)
TREES, MEASURES = 700, 6
places = torch.rand(TREES, 2)
apart = torch.cdist(places, places)
beside = (apart < apart.kthvalue(4, 1).values[:, None]) & (apart > 0)
measures = torch.randn(TREES, MEASURES)
strain = measures[:, :3].sum(1)
ill = (strain + 0.5 * beside.float() @ strain / beside.sum(1) > 0).long()


class Exchange(nn.Module):
    def __init__(self, given, made):
        super().__init__()
        self.weigh = nn.Linear(given, made)

    def forward(self, trees, links):
        return links @ self.weigh(trees)


class Orchard(nn.Module):
    def __init__(self):
        super().__init__()
        self.exchange, self.judge = Exchange(MEASURES, 24), nn.Linear(24, 2)

    def forward(self, trees, links):
        return self.judge(torch.tanh(self.exchange(trees, links)))


links = beside.float()
links = links / links.sum(1, keepdim=True)
order = torch.randperm(TREES)
seen, kept = order[:500], order[500:]
model = Orchard()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-2, weight_decay=1e-2)
for visit in range(60):
    loss = nn.functional.cross_entropy(model(measures, links)[seen], ill[seen])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
with torch.no_grad():
    right = (model(measures, links)[kept].argmax(1) == ill[kept]).float().mean()
print(f"loss {loss.item():.4f} right {right:.3f}")
