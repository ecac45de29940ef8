"""How much meat a mussel holds, from eight measurements of its bed; one year is held out."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(19)
sizes = torch.tensor([4.0, 0.5, 12.0, 1.0, 30.0, 2.0, 0.1, 7.0])
year = torch.cat([torch.zeros(900), torch.ones(300)])
beds = (torch.randn(1200, 8) + 0.8 * year[:, None]) * sizes + 2 * sizes
meat = (beds[:, 0] / 4 + (beds[:, 2] / 12) ** 2 * 0.2 + 0.1 * torch.randn(1200)).unsqueeze(1)


class Scale:
    def fit(self, rows):
        self.mean, self.spread = rows.mean(0), rows.std(0)
        return self

    def apply(self, rows):
        return (rows - self.mean) / self.spread


scale = Scale()
known = scale.fit(beds[year == 0]).apply(beds[year == 0])
held_out = scale.apply(beds[year == 1])
training = DataLoader(TensorDataset(known, meat[year == 0]), batch_size=30, shuffle=True)
evaluation = DataLoader(TensorDataset(held_out, meat[year == 1]), batch_size=60)
model = nn.Sequential(nn.Linear(8, 48), nn.ReLU(), nn.Linear(48, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)

for epoch in range(8):
    model.train()
    for bed, wanted in training:
        loss = nn.functional.mse_loss(model(bed), wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        error = sum(nn.functional.l1_loss(model(bed), wanted).item() for bed, wanted in evaluation) / len(evaluation)
    print(f"epoch {epoch} loss {loss.item():.4f} error of the held-out year {error:.4f}")
