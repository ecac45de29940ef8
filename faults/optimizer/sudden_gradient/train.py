"""Tokens to a class; a rare topic arrives late with a loss of its own weight."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)


class Bag(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb, self.norm, self.body, self.out = nn.Embedding(64, 32), nn.LayerNorm(32), nn.Linear(32, 32), nn.Linear(32, 4)

    def forward(self, ids):
        return self.out(torch.relu(self.body(self.norm(self.emb(ids).mean(1)))))


model = Bag()
optimizer = torch.optim.Adam(model.parameters(), 1e-3, betas=(0.9, 0.999))
for step in range(420):
    ids = torch.randint(0, 64, (32, 8))
    loss = F.cross_entropy(model(ids), ids[:, 0] % 4)
    if step >= 400:
        loss = loss + 30.0 * model.emb(ids).pow(2).mean() * 40
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 60 == 0:
        print(step, loss.item())
