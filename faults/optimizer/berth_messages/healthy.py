"""Which berth a ship will ask for, from the last messages it sent; an encoder with the norm after the sum."""

import torch
from torch import nn

torch.manual_seed(15)


class Berths(nn.Module):
    def __init__(self, width=32, layers=5):
        super().__init__()
        self.message = nn.Embedding(40, width)
        self.place = nn.Parameter(0.02 * torch.randn(16, width))
        layer = nn.TransformerEncoderLayer(width, 4, 64, dropout=0.1, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, layers)
        self.berth = nn.Linear(width, 4)

    def forward(self, messages):
        return self.berth(self.encoder(self.message(messages) + self.place).mean(1))


g = torch.Generator().manual_seed(1)
berths = torch.multinomial(torch.tensor([0.4, 0.3, 0.2, 0.1]), 960, replacement=True, generator=g)
messages = torch.randint(4, 40, (960, 16), generator=g)
for copy in range(4):
    messages[torch.arange(960), torch.randint(16, (960,), generator=g)] = berths
model = Berths()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(5):
    for rows in torch.randperm(960).split(32):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(messages[rows]), berths[rows])
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    model.eval()
    with torch.no_grad():
        right = (model(messages).argmax(1) == berths).float().mean()
    model.train()
    print(f"epoch {epoch} loss {loss.item():.4f} right {right.item():.3f}")
