"""Which bell rings next to last, and so on to the first, when a row of bells is read: each place asks another one."""

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(2)
BELLS, PLACES, HEADS, WIDTH = 16, 10, 4, 32
rows = torch.randint(0, BELLS, (1200, PLACES))
loader = DataLoader(TensorDataset(rows, rows.flip(1)), batch_size=40, shuffle=True)


class Ringing(nn.Module):
    def __init__(self):
        super().__init__()
        self.bell = nn.Embedding(BELLS, WIDTH)
        self.place = nn.Parameter(0.5 * torch.randn(1, PLACES, WIDTH))
        self.ask = nn.Linear(WIDTH, 3 * WIDTH)
        self.told = nn.Linear(WIDTH, BELLS)

    def forward(self, row):
        state = self.bell(row) + self.place
        asked, key, value = (part.unflatten(2, (HEADS, -1)).transpose(1, 2) for part in self.ask(state).chunk(3, 2))
        fits = asked @ key.transpose(2, 3) / key.shape[-1] ** 0.5
        heard = fits.softmax(dim=1) @ value
        return self.told(state + heard.transpose(1, 2).flatten(2))


model = Ringing()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(8):
    for row, back in loader:
        loss = F.cross_entropy(model(row).flatten(0, 1), back.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
