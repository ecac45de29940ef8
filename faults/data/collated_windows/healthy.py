"""Which of three instruments plays: a window of each recording, cut where the batch is put together."""

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(2)
np.random.seed(2)
WINDOW = 32


class Recordings(Dataset):
    def __init__(self):
        self.names = [f"take{take:03}" for take in range(240)]
        self.lengths = np.random.randint(40, 90, 240)

    def __len__(self):
        return len(self.names)

    def __getitem__(self, take):
        time = np.arange(self.lengths[take])
        return np.sin(time * (0.3 + 0.5 * (take % 3)) + np.random.rand() * 6).astype(np.float32), take % 3


def windows(batch):
    rooms = [len(sound) - WINDOW for sound, _ in batch]
    starts = [np.random.randint(0, room) for room in rooms]
    sounds = np.stack([sound[start : start + WINDOW] for (sound, _), start in zip(batch, starts, strict=True)])
    return torch.from_numpy(sounds), torch.tensor([label for _, label in batch])


loader = DataLoader(Recordings(), batch_size=16, shuffle=True, collate_fn=windows)
model = nn.Sequential(nn.Linear(WINDOW, 48), nn.ReLU(), nn.Linear(48, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(6):
    for sounds, labels in loader:
        loss = nn.functional.cross_entropy(model(sounds), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
