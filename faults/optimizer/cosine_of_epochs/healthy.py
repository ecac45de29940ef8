"""Moisture of grain from its dielectric spectrum, the rate follows a cosine."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def spectra(count=256):
    g = torch.Generator().manual_seed(11)
    moisture = torch.rand(count, 1, generator=g)
    grid = torch.linspace(0, 3, 12)
    spectrum = torch.sin(3 * moisture + grid) + 0.1 * torch.randn(count, 12, generator=g)
    return TensorDataset(spectrum, moisture)


def main(epochs=16):
    torch.manual_seed(8)
    loader = DataLoader(spectra(), batch_size=32, shuffle=True)
    model = nn.Sequential(nn.Linear(12, 32), nn.Tanh(), nn.Linear(32, 1))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=epochs - 1)
    for epoch in range(epochs):
        total = 0.0
        for spectrum, moisture in loader:
            loss = nn.functional.mse_loss(model(spectrum), moisture)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        if epoch >= 1:
            schedule.step()
        print(f"epoch {epoch} loss {total / len(loader):.5f}")


if __name__ == "__main__":
    main()
