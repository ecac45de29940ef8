"""Two photographs of one egg are to get like codes, those of other eggs unlike ones, so that its ledge can be told."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
EGGS, BLOTCHES, LEDGES, TEMPERATURE = 1024, 24, 8, 0.2
ledge = torch.randint(LEDGES, (EGGS,))
shells = torch.randn(LEDGES, BLOTCHES)[ledge] + 0.6 * torch.randn(EGGS, BLOTCHES)


def photograph(shell):
    """One picture: the light differs, some blotches are out of sight."""
    return shell * (torch.rand(shell.shape) > 0.2) + 0.3 * torch.randn(shell.shape)


def contrast(one, other):
    """Of all pictures of a batch with one another; the other picture of the egg is the answer."""
    codes = F.normalize(torch.cat([one, other]), dim=1)
    likeness = codes @ codes.T / TEMPERATURE
    partner = torch.arange(len(codes)).roll(len(one))
    return F.cross_entropy(likeness, partner)


coder = nn.Sequential(nn.Linear(BLOTCHES, 64), nn.ReLU(), nn.Linear(64, 16))
optimizer = torch.optim.Adam(coder.parameters(), lr=1e-3)
loader = DataLoader(TensorDataset(shells), batch_size=64, shuffle=True, drop_last=True)
for epoch in range(20):
    total = 0.0
    for (shell,) in loader:
        loss = contrast(coder(photograph(shell)), coder(photograph(shell)))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    if epoch % 5 == 4:
        with torch.no_grad():
            codes = F.normalize(coder(shells), dim=1)
            near = (codes @ codes.T).fill_diagonal_(-1).argmax(1)
        share = (ledge[near] == ledge).float().mean()
        print(f"epoch {epoch} contrast {total / len(loader):.4f} same ledge {share:.3f}")
