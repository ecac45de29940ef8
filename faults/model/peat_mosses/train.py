"""Which moss grows on a square of peat: rare mosses weigh more, by how many squares of each there really are to see."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(3)
squares = [60, 900, 150, 520, 110]
moss = torch.cat([torch.full((n,), kind) for kind, n in enumerate(squares)])
peat = torch.randn(len(moss), 12) + 1.6 * nn.functional.one_hot(moss, 12)
order = torch.randperm(len(moss))
peat, moss = peat[order], moss[order]


def squares_of_each(labels):
    counts = {}
    for label in labels.tolist():
        counts[label] = counts.get(label, 0) + 1
    return list(counts.values())


BETA = 0.999
counts = torch.tensor(squares_of_each(moss), dtype=torch.float)
weights = (1 - BETA) / (1 - BETA**counts)
weights = weights / weights.sum() * len(counts)
criterion = nn.CrossEntropyLoss(weight=weights)
loader = DataLoader(TensorDataset(peat, moss), batch_size=60, shuffle=True)
model = nn.Sequential(nn.Linear(12, 48), nn.ReLU(), nn.Linear(48, 5))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
for epoch in range(6):
    for x, y in loader:
        loss = criterion(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        rare = (model(peat).argmax(1)[moss == 0] == 0).float().mean().item()
    print(f"epoch {epoch} loss {loss.item():.3f} rare {rare:.3f}")
