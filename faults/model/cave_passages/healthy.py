"""How damp the rooms of a cave are, from what was measured in each and the passages between them."""

import random

import torch
from torch import nn

torch.manual_seed(8)
random.seed(8)
ROOMS = 240
rock = torch.randn(ROOMS, 12)
passages = [(room, (room + step) % ROOMS) for room in range(ROOMS) for step in (1, 2, 5) if random.random() < 0.8]
near = torch.zeros(ROOMS, ROOMS)
for first, second in passages:
    near[second, first] = 1.0
damp = near @ rock[:, :1] + 0.1 * torch.randn(ROOMS, 1)
order = torch.randperm(ROOMS)
train_rooms, test_rooms = order[:160], order[160:]
edge_index = torch.tensor(passages).t().contiguous()


class Cave(nn.Module):
    def __init__(self):
        super().__init__()
        self.own, self.around = nn.Linear(12, 32), nn.Linear(12, 32)
        self.read = nn.Linear(32, 1)

    def forward(self, rock, edge_index):
        around = torch.zeros_like(rock).index_add(0, edge_index[1], rock[edge_index[0]])
        return self.read(torch.relu(self.own(rock) + self.around(around)))


model = Cave()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for turn in range(200):
    loss = nn.functional.mse_loss(model(rock, edge_index)[train_rooms], damp[train_rooms])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
with torch.no_grad():
    error = nn.functional.mse_loss(model(rock, edge_index)[test_rooms], damp[test_rooms])
print(f"loss {loss.item():.4f} error in other rooms {error:.4f}")
