"""Next value of a long recording, streamed in windows by two loader workers."""

import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset, get_worker_info


class Windows(IterableDataset):
    def __init__(self, length=12000, width=16):
        g = torch.Generator().manual_seed(15)
        self.values = torch.cumsum(torch.randn(length, generator=g), 0) / 20
        self.width = width

    def __iter__(self):
        first, step = get_worker_info().id, get_worker_info().num_workers
        for n in range(first, len(self.values) // self.width - 1, step):
            window = self.values[n * self.width : (n + 1) * self.width + 1]
            yield window[:-1], window[-1]


def main():
    torch.manual_seed(7)
    model = nn.Sequential(nn.Linear(16, 24), nn.Tanh(), nn.Linear(24, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    loader = DataLoader(Windows(), batch_size=16, num_workers=2)
    for epoch in range(2):
        for window, value in loader:
            loss = nn.functional.mse_loss(model(window).squeeze(1), value)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
