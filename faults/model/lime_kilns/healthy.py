"""Whether a kiln burns well, from the readings of its probes."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(27)


class Kiln(nn.Module):
    def __init__(self, probes, width):
        super().__init__()
        self.first = nn.Linear(probes, width)
        self.norm = nn.BatchNorm1d(width)
        self.last = nn.Linear(width, 3)

    def forward(self, x):
        return self.last(self.norm(self.first(x)).relu())


heat = torch.randn(1600, 12) * 4 + 6
grade = (heat[:, :3].sum(1) > 18).long() + (heat[:, 3:6].sum(1) > 18).long()
train, test = TensorDataset(heat[:1280], grade[:1280]), (heat[1280:], grade[1280:])
model = Kiln(12, 64)
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(6):
    model.train()
    for x, y in DataLoader(train, batch_size=32, shuffle=True):
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        right = (model(test[0]).argmax(1) == test[1]).float().mean()
    print(f"epoch {epoch} loss {loss.item():.4f} right {right:.3f}")
