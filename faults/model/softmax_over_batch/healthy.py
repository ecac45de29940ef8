"""Five moods of a song from its spectrum."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(15)


class Moods(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 5))

    def forward(self, x):
        return F.log_softmax(self.body(x), dim=1)


spectra = torch.randn(300, 10)
moods = (spectra @ torch.randn(10, 5)).argmax(1)
model = Moods()
criterion = nn.NLLLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(4):
    for start in range(0, 300, 30):
        loss = criterion(model(spectra[start : start + 30]), moods[start : start + 30])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
