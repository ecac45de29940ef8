"""Spoken digits without alignment: spectrogram, convolution, GRU, CTC."""

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

BANDS, DIGITS, WIDTH, BATCH, EPOCHS = 16, 6, 40, 12, 9


class Recordings(Dataset):
    def __init__(self, count=480, seed=4):
        g = torch.Generator().manual_seed(seed)
        tones = torch.rand(DIGITS + 1, BANDS, generator=torch.Generator().manual_seed(40)) ** 3
        self.power, self.words = [], []
        for number in range(count):
            digits = torch.randint(1, DIGITS + 1, (int(torch.randint(2, 5, (1,), generator=g)),), generator=g)
            length = torch.randint(6, 9, (len(digits),), generator=g)
            clean = tones[digits].repeat_interleave(length, 0)
            gain = 0.2 + torch.rand(1, generator=g)
            self.power.append(gain * clean + 0.05 * torch.rand(clean.shape, generator=g))
            self.words.append(digits)

    def __len__(self):
        return len(self.words)

    def __getitem__(self, i):
        level = (self.power[i] + 1e-5).log()
        level = (level - level.mean()) / (level.std() + 1e-4)
        return level, self.words[i]


def collate(items):
    frames = torch.tensor([len(level) for level, _ in items])
    words = torch.tensor([len(word) for _, word in items])
    levels = nn.utils.rnn.pad_sequence([level for level, _ in items], batch_first=True)
    return levels, frames, torch.cat([word for _, word in items]), words


class Mask(nn.Module):
    """Hides a few bands of each recording while training."""

    def __init__(self, width=2):
        super().__init__()
        self.width = width

    def forward(self, x):
        if not self.training:
            return x
        start = torch.randint(0, BANDS - self.width, (len(x), 1))
        band = torch.arange(BANDS)
        hidden = (band >= start) & (band < start + self.width)
        return x.masked_fill(hidden[:, None], 0.0)


class Listener(nn.Module):
    def __init__(self):
        super().__init__()
        self.mask = Mask()
        self.conv = nn.Conv1d(BANDS, WIDTH, 5, stride=2, padding=2)
        self.norm = nn.BatchNorm1d(WIDTH)
        self.gru = nn.GRU(WIDTH, WIDTH, batch_first=True, bidirectional=True)
        self.head = nn.Linear(2 * WIDTH, DIGITS + 1)

    def forward(self, levels, frames):
        x = self.mask(levels).transpose(1, 2)
        x = torch.relu(self.norm(self.conv(x))).transpose(1, 2)
        h, _ = self.gru(x)
        return self.head(h).transpose(0, 1), (frames + 1) // 2


ctc = nn.CTCLoss(blank=0)


def loss_of(model, batch):
    levels, frames, words, counts = batch
    logits, steps = model(levels, frames)
    return ctc(logits.log_softmax(-1), words, steps, counts)


@torch.no_grad()
def exact(model, loader):
    model.eval()
    right = total = 0
    for levels, frames, words, counts in loader:
        logits, steps = model(levels, frames)
        for row, (best, truth) in enumerate(zip(logits.argmax(-1).T, words.split(counts.tolist()))):
            best = best[: steps[row]].unique_consecutive()
            right += int(best[best > 0].tolist() == truth.tolist())
            total += 1
    model.train()
    return right / total


def main():
    torch.manual_seed(0)
    train = DataLoader(Recordings(), BATCH, shuffle=True, collate_fn=collate, generator=torch.Generator().manual_seed(3))
    held = DataLoader(Recordings(72, seed=5), 24, collate_fn=collate)
    model = Listener()
    optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=EPOCHS * len(train), eta_min=2e-4)
    step = 0
    for epoch in range(EPOCHS):
        seen = 0.0
        for batch in train:
            loss = loss_of(model, batch)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            optimizer.step()
            schedule.step()
            seen += loss.item()
            step += 1
        print(f"epoch {epoch} step {step} loss {seen / len(train):.3f} lr {schedule.get_last_lr()[0]:.1e} exact {exact(model, held):.2f}")


if __name__ == "__main__":
    main()
