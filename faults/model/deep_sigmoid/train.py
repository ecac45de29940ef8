"""A deep perceptron on two interleaved spirals."""
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
t = torch.rand(800) * 9
y = torch.randint(0, 2, (800,))
x = torch.stack([t * torch.cos(t + torch.pi * y), t * torch.sin(t + torch.pi * y)], 1) / 9


class Net(nn.Module):
    def __init__(self, width=32, depth=9):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(2 if i == 0 else width, width) for i in range(depth))
        self.out = nn.Linear(width, 2)

    def forward(self, x):
        for layer in self.layers:
            x = torch.sigmoid(layer(x))
        return self.out(x)


model = Net()
optimizer = torch.optim.Adam(model.parameters(), 1e-3)
for epoch in range(6):
    for a, b in DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(a), b)
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
