"""The next thread of a woven band, by dilated convolutions over the threads before it."""

import torch
from torch import nn
from torch.nn import functional as F

COLOURS, LENGTH, WARM = 9, 48, 12
torch.manual_seed(23)
repeat = torch.randint(0, COLOURS, (600, 7))
bands = repeat.repeat(1, LENGTH // 7 + 2)[:, : LENGTH + 1]
slips = torch.rand(bands.shape) < 0.1
bands = torch.where(slips, torch.randint(0, COLOURS, bands.shape), bands)


class Gated(nn.Module):
    """A convolution whose output is gated by another."""

    def __init__(self, width, dilation):
        super().__init__()
        self.filter = nn.Conv1d(width, 2 * width, 2, dilation=dilation)
        self.out = nn.Conv1d(width, width, 1)
        self.dilation = dilation

    def forward(self, x):
        padded = F.pad(x, (0, self.dilation))
        value, gate = self.filter(padded).chunk(2, dim=1)
        return x + self.out(torch.tanh(value) * torch.sigmoid(gate))


class Weaver(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.table = nn.Embedding(COLOURS, width)
        self.layers = nn.ModuleList(Gated(width, 2**k) for k in range(3))
        self.head = nn.Linear(width, COLOURS)

    def forward(self, threads):
        x = self.table(threads).transpose(1, 2)
        for layer in self.layers:
            x = layer(x)
        return self.head(x.transpose(1, 2))


weaver = Weaver()
optimizer = torch.optim.Adam(weaver.parameters(), lr=4e-3)
for step in range(180):
    band = bands[torch.randint(0, len(bands), (24,))]
    scores = weaver(band[:, :-1])[:, WARM:]
    loss = F.cross_entropy(scores.reshape(-1, COLOURS), band[:, 1 + WARM :].reshape(-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 30 == 29:
        print(f"step {step} loss {loss.item():.4f}")
