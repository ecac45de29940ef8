"""Names the choir that sang, one of 6, from phrases of different length."""

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence
from torch.utils.data import DataLoader, Dataset

CHOIRS, VOICES = 6, 8


class Phrases(Dataset):
    def __init__(self, count):
        draw = torch.Generator().manual_seed(2)
        colours = torch.randn(CHOIRS, VOICES, generator=draw)
        self.choirs = torch.randint(0, CHOIRS, (count,), generator=draw)
        lengths = torch.randint(4, 20, (count,), generator=draw).tolist()
        self.phrases = [
            colours[choir] + torch.randn(length, VOICES, generator=draw)
            for choir, length in zip(self.choirs, lengths)
        ]

    def __len__(self):
        return len(self.phrases)

    def __getitem__(self, index):
        return self.phrases[index], self.choirs[index]


def together(cards):
    phrases, choirs = zip(*cards)
    phrases = sorted(phrases, key=len, reverse=True)
    lengths = [len(phrase) for phrase in phrases]
    return pad_sequence(phrases, batch_first=True), torch.stack(choirs), lengths


class Listener(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(VOICES, 24, batch_first=True)
        self.out = nn.Linear(24, CHOIRS)

    def forward(self, phrases, lengths):
        _, last = self.rnn(pack_padded_sequence(phrases, lengths, batch_first=True))
        return self.out(last[0])


def main():
    torch.manual_seed(0)
    model = Listener()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for epoch in range(4):
        total = 0.0
        for phrases, choirs, lengths in DataLoader(Phrases(256), batch_size=32, shuffle=True, collate_fn=together):
            loss = nn.functional.cross_entropy(model(phrases, lengths), choirs)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() / 8
        print(f"epoch {epoch}: {total:.3f}")


main()
