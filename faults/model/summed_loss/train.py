"""Twenty kinds of leaves from their outline."""

import torch
from torch import nn

torch.manual_seed(8)
outlines = torch.randn(640, 12)
kinds = (outlines @ torch.randn(12, 20)).argmax(1)
model = nn.Sequential(nn.Linear(12, 48), nn.ReLU(), nn.Dropout(0.1), nn.Linear(48, 20))
criterion = nn.CrossEntropyLoss(reduction="sum")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for epoch in range(4):
    for start in range(0, 640, 64):
        loss = criterion(model(outlines[start : start + 64]), kinds[start : start + 64])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        right = (model(outlines[:99]).argmax(1) == kinds[:99]).sum().item()
    print(f"epoch {epoch} loss {loss.item():.4f} right {right}")
