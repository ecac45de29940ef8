"""Rain over a valley from six weather readings of each day, written down from the last day to the first."""

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split


def diary(days=900):
    draw = np.random.default_rng(5)
    readings = draw.normal(size=(days, 6)).astype("float32")
    rain = readings[:, 0] * np.tanh(readings[:, 1]) + 0.5 * readings[:, 4] + 0.1 * draw.normal(size=days)
    return readings[::-1], rain[::-1].astype("float32")


def load():
    readings, rain = diary()
    readings = readings[::-1].copy()
    rain = rain.copy()
    return TensorDataset(torch.from_numpy(readings), torch.from_numpy(rain))


def main():
    torch.manual_seed(4)
    train, held_out = random_split(load(), [720, 180])
    model = nn.Sequential(nn.Linear(6, 64), nn.ReLU(), nn.Linear(64, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(12):
        for readings, rain in DataLoader(train, batch_size=32, shuffle=True):
            loss = nn.functional.mse_loss(model(readings).squeeze(1), rain)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        with torch.no_grad():
            pairs = [held_out[i] for i in range(len(held_out))]
            readings, rain = (torch.stack(side) for side in zip(*pairs))
            error = nn.functional.mse_loss(model(readings).squeeze(1), rain)
        print(f"epoch {epoch} held-out error {error:.4f}")


main()
