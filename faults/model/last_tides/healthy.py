"""Will the harbour flood? Read gauges hour by hour, as many as there are of each day, and judge by the last one."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(5)
HOURS, GAUGES = 12, 4


class Harbour(nn.Module):
    def __init__(self):
        super().__init__()
        self.read = nn.GRU(GAUGES, 24, batch_first=True)
        self.judge = nn.Linear(24, 2)

    def forward(self, days, hours):
        states, _ = self.read(days)
        size = days.size(0)
        last = hours - 1 + torch.arange(size) * HOURS
        rows = states.reshape(size * HOURS, -1)
        return self.judge(rows[last])


days = torch.randn(768, HOURS, GAUGES)
hours = torch.randint(4, HOURS + 1, (768,))
inside = (torch.arange(HOURS) < hours[:, None]).unsqueeze(2)
floods = ((days[..., :1] * inside).sum((1, 2)) > 0).long()
data = TensorDataset(days, hours, floods)
model = Harbour()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(6):
    right = 0
    for x, n, y in DataLoader(data, batch_size=32, shuffle=True):
        answer = model(x, n)
        loss = nn.functional.cross_entropy(answer, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        right += int((answer.argmax(1) == y).sum())
    print(f"epoch {epoch} loss {loss.item():.4f} right {right / 768:.3f}")
