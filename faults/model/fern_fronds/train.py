"""Fronds of ferns, told apart from two examples of each of five kinds."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(3)
KINDS, EACH = 24, 40
WAYS, SHOTS, QUERIES = 5, 2, 5


class Episodes:
    """Rows of one task: some kinds, and so many fronds of each."""

    def __init__(self, kinds: torch.Tensor, tasks: int) -> None:
        self.places = [torch.nonzero(kinds == kind).flatten() for kind in range(KINDS)]
        self.tasks = tasks

    def __len__(self) -> int:
        return self.tasks

    def __iter__(self):
        for _ in range(self.tasks):
            chosen = torch.randperm(KINDS)[:WAYS].tolist()
            rows = [self.places[kind][torch.randperm(EACH)[: SHOTS + QUERIES]] for kind in chosen]
            yield torch.stack(rows).reshape(-1)


class Frond(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 32))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layers(x)


kinds = torch.arange(KINDS).repeat_interleave(EACH)
fronds = torch.randn(KINDS, 16)[kinds] + 0.7 * torch.randn(len(kinds), 16)
loader = DataLoader(TensorDataset(fronds, kinds), batch_sampler=Episodes(kinds, 50))
model = Frond()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
wanted = torch.arange(WAYS).repeat(QUERIES)
for epoch in range(3):
    right = 0.0
    for batch, _ in loader:
        support, asked = batch[: WAYS * SHOTS], batch[WAYS * SHOTS :]
        prototypes = model(support).reshape(SHOTS, WAYS, -1).mean(0)
        scores = -(torch.cdist(model(asked), prototypes) ** 2)
        loss = F.cross_entropy(scores, wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        right += (scores.argmax(1) == wanted).float().mean().item()
    print(f"epoch {epoch} loss {loss.item():.4f} right {right / len(loader):.3f}")
