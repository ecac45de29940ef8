"""Which syllables a warbler sings: spectra of whole songs, written down as a row of letters."""

import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

SYLLABLES = 9
SHAPES = torch.randn(SYLLABLES, 16, generator=torch.Generator().manual_seed(7))


def sing(number, seed):
    dice = torch.Generator().manual_seed(seed)
    songs = []
    for _ in range(number):
        letters = torch.randint(0, SYLLABLES, (int(torch.randint(4, 14, (1,), generator=dice)),), generator=dice)
        held = torch.randint(3, 7, letters.shape, generator=dice)
        song = SHAPES[letters].repeat_interleave(held, 0)
        songs.append((song + 0.4 * torch.randn(song.shape, generator=dice), letters + 1))
    return songs


def together(songs):
    spectra, letters = zip(*songs, strict=True)
    lengths = torch.tensor([len(s) for s in spectra])
    return pad_sequence(spectra, batch_first=True), lengths, pad_sequence(letters, batch_first=True), torch.tensor([len(n) for n in letters])


class Listener(nn.Module):
    def __init__(self, width=48):
        super().__init__()
        self.ear = nn.Conv1d(16, width, 3, stride=2, padding=1)
        self.context = nn.Conv1d(width, width, 5, padding=2)
        self.letters = nn.Linear(width, SYLLABLES + 1)

    def forward(self, spectra, lengths):
        heard = self.context(self.ear(spectra.mT).relu()).relu().mT
        return self.letters(heard).log_softmax(2), (lengths + 1) // 2


torch.manual_seed(2)
loader = DataLoader(sing(480, 1), batch_size=24, shuffle=True, collate_fn=together)
model = Listener()
score = nn.CTCLoss(zero_infinity=True)
optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
for epoch in range(8):
    for spectra, lengths, letters, counts in loader:
        logs, frames = model(spectra, lengths)
        loss = score(logs.transpose(0, 1), letters, frames, counts)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
with torch.no_grad():
    spectra, lengths, letters, counts = together(sing(60, 8))
    best = [torch.unique_consecutive(row).tolist() for row in model(spectra, lengths)[0].argmax(2)]
    same = [[n for n in row if n] == letters[i, : counts[i]].tolist() for i, row in enumerate(best)]
print(f"loss {loss.item():.4f}, new songs written down right: {sum(same)} of 60")
