"""Product retrieval in a plain loop with accelerate."""

import torch
import torch.nn as nn
from accelerate import Accelerator
from torch.utils.data import DataLoader, TensorDataset


class Tower(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Linear(30, 16, bias=False)
        self.out = nn.Linear(16, 8, bias=False)

    def forward(self, counts):
        vector = self.out(torch.relu(self.words(counts)))
        return vector / vector.norm(dim=-1, keepdim=True)


def main():
    torch.manual_seed(26)
    counts = torch.poisson(torch.full((180, 30), 0.6))
    other = (counts + torch.poisson(torch.full((180, 30), 0.1))).clamp_max(4)
    counts[139] = 0.0
    accelerator = Accelerator(cpu=True)
    model = Tower()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    loader = DataLoader(TensorDataset(counts, other), batch_size=9, shuffle=True, generator=torch.Generator().manual_seed(32))
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for step, (a, c) in enumerate(loader):
        scores = model(a) @ model(c).T / 0.1
        loss = nn.functional.cross_entropy(scores, torch.arange(len(a)))
        optimizer.zero_grad()
        accelerator.backward(loss)
        accelerator.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        accelerator.print(f"step {step} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
