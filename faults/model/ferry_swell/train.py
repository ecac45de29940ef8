"""Whether a crossing was rough, from what the gauge of a ferry wrote down on the way: each crossing is a row of its own."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(6)
LENGTH, BATCH, WIDTH = 12, 40, 24
swell = torch.randn(800, LENGTH, 3)
rough = (swell[:, :, 0].cumsum(1).amax(1) > 2.5).long()
crossings = DataLoader(TensorDataset(swell, rough), batch_size=BATCH, shuffle=True)


class Gauge(nn.Module):
    def __init__(self):
        super().__init__()
        self.memory = nn.LSTM(3, WIDTH, batch_first=True)
        self.judge = nn.Linear(WIDTH, 2)

    def forward(self, crossing, state=None):
        told, state = self.memory(crossing, state)
        return self.judge(told[:, -1]), state


model = Gauge()
optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
state = (torch.zeros(1, BATCH, WIDTH), torch.zeros(1, BATCH, WIDTH))
for epoch in range(8):
    for crossing, answer in crossings:
        scores, state = model(crossing, tuple(part.detach() for part in state))
        loss = nn.functional.cross_entropy(scores, answer)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        right = (model(swell)[0].argmax(1) == rough).float().mean()
    print(f"epoch {epoch} loss {loss.item():.4f} right {right:.3f}")
