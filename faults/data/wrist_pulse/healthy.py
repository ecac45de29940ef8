"""Pulse, steps and skin temperature of the next quarter of an hour, from the last forty minutes of a wristband."""

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(21)
PAST, HEAD, AHEAD = 40, 10, 15
minutes = torch.arange(3000.0)
effort = F.avg_pool1d((torch.rand(1, 1, 3100) < 0.1).float(), 25, 1).flatten()[:3000] * 4
band = torch.stack([effort, effort.roll(6), torch.sin(minutes / 90)], 1) + 0.25 * torch.randn(3000, 3)
band = (band - band.mean(0)) / band.std(0)


class Glimpses(nn.Module):
    """Attends to a few minutes of the past, chosen anew at each call."""

    def __init__(self, width, count=16):
        super().__init__()
        self.ask, self.offer, self.count = nn.Linear(width, width), nn.Linear(width, 2 * width), count

    def forward(self, now, past):
        key, value = self.offer(past[:, torch.randint(0, past.shape[1], (self.count,))]).chunk(2, -1)
        return F.scaled_dot_product_attention(self.ask(now), key, value)


class Forecast(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.before = nn.GRU(3, width, batch_first=True)
        self.after = nn.Conv1d(4, width, 5, padding=2)
        self.glimpses, self.out = Glimpses(width), nn.Linear(2 * width, 3)

    def forward(self, past, known):
        past = self.before(past)[0]
        place = torch.linspace(-1, 1, known.shape[1]).expand(known.shape[0], -1)[..., None]
        now = self.after(torch.cat([known, place], 2).transpose(1, 2)).relu().transpose(1, 2)
        return self.out(torch.cat([now, self.glimpses(now, past)], 2))[:, -AHEAD:]


def windows(starts):
    spans = torch.stack([band[s : s + PAST + AHEAD] for s in starts.tolist()])
    return spans[:, :PAST], spans[:, PAST - HEAD :]


model = Forecast()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(6):
    for starts in torch.randperm(2400).split(48):
        past, rest = windows(starts)
        known = torch.cat([rest[:, :HEAD], torch.zeros_like(rest[:, HEAD:])], 1)
        said = model(past, known=known)
        loss = F.mse_loss(said, rest[:, HEAD:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        past, rest = windows(torch.arange(2460, 2940, 5))
        known = torch.cat([rest[:, :HEAD], torch.zeros_like(rest[:, HEAD:])], 1)
        error = F.mse_loss(model(past, known=known), rest[:, HEAD:])
    print(f"epoch {epoch} loss {loss.item():.4f} held back {error.item():.4f}")
