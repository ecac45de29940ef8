"""Which of four centuries a layer of an ice core comes from, by its dust and its salts."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(41)
salts = torch.randn(768, 10)
century = (salts[:, 0] > 0).long() + 2 * (salts[:, 1] + 0.5 * salts[:, 2] > 0).long()
loader = DataLoader(TensorDataset(salts, century), batch_size=32, shuffle=True)


class Dating(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(10, 48), nn.ReLU(), nn.Linear(48, 4))

    def forward(self, layer):
        return self.body(layer).log_softmax(dim=1)


model = Dating()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(4):
    right = 0
    for layer, target in loader:
        scores = model(layer)
        loss = nn.functional.nll_loss(scores, target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        right += (scores.argmax(1) == target).sum().item()
    print(f"epoch {epoch} loss {loss.item():.4f} right {right / 768:.3f}")
