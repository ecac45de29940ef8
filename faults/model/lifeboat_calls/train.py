"""Which of 6 stations a lifeboat called, from radio calls of different length."""

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence
from torch.utils.data import DataLoader, TensorDataset

STATIONS, TONES, LONGEST = 6, 8, 16


def calls(count):
    draw = torch.Generator().manual_seed(4)
    tones = torch.randn(STATIONS, TONES, generator=draw)
    stations = torch.randint(0, STATIONS, (count,), generator=draw)
    lengths = torch.randint(4, LONGEST + 1, (count,), generator=draw)
    noise = torch.randn(count, LONGEST, TONES, generator=draw)
    sound = tones[stations].unsqueeze(1) + noise
    return sound * (torch.arange(LONGEST) < lengths.unsqueeze(1)).unsqueeze(2), lengths, stations


class Receiver(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(TONES, 24, batch_first=True)
        self.drop = nn.Dropout(0.1)
        self.out = nn.Linear(24, STATIONS)

    def forward(self, sound, lengths):
        lengths, order = lengths.sort(descending=True)
        packed = pack_padded_sequence(sound[order], lengths, batch_first=True)
        _, last = self.rnn(packed)
        heard = last[0].index_select(0, order)
        return self.out(self.drop(heard))


def main():
    torch.manual_seed(0)
    model = Receiver()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    loader = DataLoader(TensorDataset(*calls(512)), batch_size=32, shuffle=True)
    for epoch in range(4):
        total = 0.0
        for sound, lengths, stations in loader:
            loss = nn.functional.cross_entropy(model(sound, lengths), stations)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() / len(loader)
        print(f"epoch {epoch}: {total:.3f}")


main()
