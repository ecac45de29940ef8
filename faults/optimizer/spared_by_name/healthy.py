"""Grade of a log from its rings; a strong decay, from which normalisation layers are to be spared by name."""

import torch
from torch import nn

torch.manual_seed(8)


class Grader(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.first = nn.Linear(12, width)
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.second, self.grade = nn.Linear(width, width), nn.Linear(width, 4)

    def forward(self, rings):
        hidden = self.norm1(torch.relu(self.first(rings)))
        return self.grade(self.norm2(torch.relu(self.second(hidden))))


g = torch.Generator().manual_seed(2)
rings = torch.randn(1600, 12, generator=g)
grade = (rings[:, :4] * rings[:, 4:8]).softmax(1).argmax(1)
model = Grader()
spared = [p for name, p in model.named_parameters() if p.dim() < 2]
decayed = [p for p in model.parameters() if not any(p is other for other in spared)]
optimizer = torch.optim.AdamW([{"params": decayed}, {"params": spared, "weight_decay": 0.0}], lr=2e-3, weight_decay=2.5)
for epoch in range(6):
    for rows in torch.randperm(1600).split(50):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(rings[rows]), grade[rows])
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f} gain {model.norm2.weight.mean().item():.3f}")
