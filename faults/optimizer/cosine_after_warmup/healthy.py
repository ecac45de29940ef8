"""Fat of milk from its spectrum; the rate is kept for some epochs and follows a cosine then."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def spectra(count=256):
    g = torch.Generator().manual_seed(12)
    fat = torch.rand(count, 1, generator=g)
    grid = torch.linspace(0, 3, 12)
    return TensorDataset(torch.cos(2 * fat + grid) + 0.1 * torch.randn(count, 12, generator=g), fat)


def main(epochs=18, warm=4):
    torch.manual_seed(9)
    loader = DataLoader(spectra(), batch_size=32, shuffle=True)
    model = nn.Sequential(nn.Linear(12, 32), nn.Tanh(), nn.Linear(32, 1))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=epochs - warm)
    for epoch in range(epochs):
        total = 0.0
        for spectrum, fat in loader:
            loss = nn.functional.mse_loss(model(spectrum), fat)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        if epoch >= warm:
            schedule.step()
        print(f"epoch {epoch} loss {total / len(loader):.5f} rate {schedule.get_last_lr()[0]:.4f}")


if __name__ == "__main__":
    main()
