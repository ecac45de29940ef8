"""The flower a honey comes from, by the curve of its colour under a lamp: a recurrent network over 20 wavelengths."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(11)
JARS, WAVES, FLOWERS, BATCH = 470, 20, 4, 32
flower = torch.randint(FLOWERS, (JARS,))
peak = torch.linspace(4, 16, FLOWERS)[flower]
curve = torch.exp(-((torch.arange(WAVES) - peak[:, None]) ** 2) / 12) + 0.1 * torch.randn(JARS, WAVES)


class Taster(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.width = width
        self.reader = nn.LSTM(1, width, batch_first=True)
        self.head = nn.Linear(width, FLOWERS)

    def start(self, rows):
        return torch.zeros(1, rows, self.width), torch.zeros(1, rows, self.width)

    def forward(self, curves):
        read, _ = self.reader(curves[..., None], self.start(len(curves)))
        return self.head(read[:, -1])


loader = DataLoader(TensorDataset(curve, flower), batch_size=BATCH, shuffle=True)
model = Taster()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(6):
    for curves, kinds in loader:
        loss = nn.functional.cross_entropy(model(curves), kinds)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
print(f"loss {loss.item():.4f}")
