"""Water samples of a lagoon through an autoencoder; the weight of the prior falls with the square root of what is left."""

import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(12)
basis = torch.randn(3, 12)
samples = torch.randn(960, 3) @ basis + 0.1 * torch.randn(960, 12)
loader = DataLoader(TensorDataset(samples), batch_size=48, shuffle=True)
EPOCHS = 6
ANNEALED = 5 * len(loader)


class Coder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(12, 24), nn.Tanh(), nn.Linear(24, 6))
        self.decoder = nn.Sequential(nn.Linear(3, 24), nn.Tanh(), nn.Linear(24, 12))

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        mean, log_var = self.encoder(x).chunk(2, dim=1)
        code = mean + torch.randn_like(mean) * (0.5 * log_var).exp()
        return self.decoder(code), mean, log_var


class Trainer:
    def __init__(self) -> None:
        self.model = Coder()
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=2e-3)
        self.done = 0
        self.prior = 1.0

    def step(self, x: torch.Tensor) -> float:
        self.prior = np.sqrt(1 - self.done / ANNEALED)
        output, mean, log_var = self.model(x)
        divergence = -0.5 * (1 + log_var - mean.square() - log_var.exp()).sum(1).mean()
        loss = nn.functional.mse_loss(output, x) + 0.02 * self.prior * divergence
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.done += 1
        return loss.item()


trainer = Trainer()
for epoch in range(EPOCHS):
    losses = [trainer.step(x) for (x,) in loader]
    print(f"epoch {epoch} loss {sum(losses) / len(losses):.4f}")
