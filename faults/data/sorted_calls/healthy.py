"""Which bird calls: recordings of different lengths, the longest of a batch first."""

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence
from torch.utils.data import DataLoader, Dataset


class Calls(Dataset):
    def __init__(self, count=360):
        g = torch.Generator().manual_seed(6)
        self.bird = torch.randint(0, 3, (count,), generator=g)
        lengths = torch.randint(12, 30, (count,), generator=g).tolist()
        self.waves = []
        for bird, length in zip(self.bird.tolist(), lengths):
            wave = torch.sin((0.3 + 0.4 * bird) * torch.arange(length)) + 0.2 * torch.randn(length, generator=g)
            self.waves.append(wave)
        self.waves[292] = torch.full_like(self.waves[292], 0.25)

    def __len__(self):
        return len(self.waves)

    def __getitem__(self, index):
        wave = self.waves[index]
        wave = (wave - wave.mean()) / (wave.std() + 1e-5)
        return wave.unsqueeze(1), self.bird[index]


def longest_first(samples):
    samples = sorted(samples, key=lambda sample: len(sample[0]), reverse=True)
    lengths = torch.tensor([len(wave) for wave, _ in samples])
    return pad_sequence([wave for wave, _ in samples], batch_first=True), lengths, torch.stack([b for _, b in samples])


class Listener(nn.Module):
    def __init__(self, hidden=24):
        super().__init__()
        self.rnn = nn.GRU(1, hidden, batch_first=True)
        self.head = nn.Linear(hidden, 3)

    def forward(self, waves, lengths):
        _, last = self.rnn(pack_padded_sequence(waves, lengths, batch_first=True))
        return self.head(last[0])


def main():
    torch.manual_seed(1)
    loader = DataLoader(Calls(), batch_size=12, shuffle=True, collate_fn=longest_first)
    model = Listener()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(4):
        for waves, lengths, bird in loader:
            loss = nn.functional.cross_entropy(model(waves, lengths), bird)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
