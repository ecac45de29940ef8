"""Which bird calls when, a label for each moment of a recording."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(10)
BIRDS, MOMENTS = 5, 24
calls = torch.randint(BIRDS, (256, MOMENTS // 4)).repeat_interleave(4, 1)
bands = nn.functional.one_hot(calls, BIRDS).float().movedim(-1, 1)
recordings = torch.einsum("ob,nbt->not", torch.randn(9, BIRDS), bands) + 0.3 * torch.randn(256, 9, MOMENTS)
loader = DataLoader(TensorDataset(recordings, calls), batch_size=32, shuffle=True)
model = nn.Sequential(nn.Conv1d(9, 24, 3, padding=1), nn.ReLU(), nn.Conv1d(24, BIRDS, 3, padding=1))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)

for epoch in range(6):
    for sound, bird in loader:
        scores = model(sound)
        rows = scores.movedim(1, -1).reshape(-1, BIRDS)
        loss = nn.functional.cross_entropy(rows, bird.view(-1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
