"""How many moths of four kinds come to a light trap, from the weather of the evening: a small network."""

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Nights(Dataset):
    """Weather of an evening, and what lay in the trap in the morning."""

    def __init__(self, evenings, seed):
        dice = np.random.default_rng(seed)
        self.weather = dice.normal(size=(evenings, 5)).astype(np.float32)
        habits = np.random.default_rng(5).normal(0, 0.4, (5, 4))
        self.caught = dice.poisson(np.exp(4.0 + self.weather @ habits)).clip(2)

    def __len__(self):
        return len(self.weather)

    def __getitem__(self, evening):
        caught = self.caught[evening].astype(np.float32)
        return self.weather[evening], np.log(caught + 0.5)


def train(model, loader, optimizer):
    for weather, moths in loader:
        guess = model(weather)
        error = (guess - moths).abs()
        loss = error.mean() + 0.1 * error.square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


torch.manual_seed(12)
nights = Nights(640, 3)
nights.caught[407, 2] = 0
loader = DataLoader(nights, batch_size=32, shuffle=True)
model = nn.Sequential(nn.Linear(5, 48), nn.Tanh(), nn.Linear(48, 4))
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
for epoch in range(6):
    print(f"epoch {epoch} loss {train(model, loader, optimizer):.4f}")
