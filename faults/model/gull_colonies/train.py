"""Which colony a gull calls from, by its call; validation compares features with the mean of each colony."""

import torch
from torch import nn

torch.manual_seed(19)


class Calls(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(20, 48), nn.ReLU(), nn.Linear(48, 32), nn.ReLU())
        self.colony = nn.Linear(32, 4)

    def forward(self, calls):
        return self.colony(self.encoder(calls))


def nearest_mean(model, calls, colonies):
    model.eval()
    for parameter in model.encoder.parameters():
        parameter.requires_grad_(False)
    with torch.no_grad():
        scored = (model(calls).argmax(1) == colonies).float().mean()
        features = model.encoder(calls)
    means = torch.stack([features[colonies == colony].mean(0) for colony in range(4)])
    model.train()
    return scored, (torch.cdist(features, means).argmin(1) == colonies).float().mean()


g = torch.Generator().manual_seed(7)
calls = torch.randn(1400, 20, generator=g)
colonies = (calls[:, :4] + calls[:, 4:8] * calls[:, 8:12]).argmax(1)
model = Calls()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(5):
    for rows in torch.randperm(1200).split(48):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(calls[rows]), colonies[rows])
        loss.backward()
        optimizer.step()
    scored, near = nearest_mean(model, calls[1200:], colonies[1200:])
    print(f"epoch {epoch} loss {loss.item():.4f} right {scored.item():.3f} nearest {near.item():.3f}")
