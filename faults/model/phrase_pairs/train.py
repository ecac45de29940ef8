"""Opposites of words, letter by letter, a loss for each pair."""

import torch
from torch import nn

torch.manual_seed(5)
PAIRS = [("warm", "cold"), ("tall", "tiny"), ("fast", "slow"), ("loud", "calm"), ("open", "shut"), ("dark", "pale")]
letters = sorted({letter for pair in PAIRS for word in pair for letter in word})
codes = {letter: number for number, letter in enumerate(letters)}
words = torch.tensor([[codes[letter] for letter in first] for first, _ in PAIRS])
answers = torch.tensor([[codes[letter] for letter in second] for _, second in PAIRS])
model = nn.Sequential(
    nn.Embedding(len(letters), 16), nn.Flatten(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 4 * len(letters))
)
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
criterion = nn.CrossEntropyLoss()

for epoch in range(120):
    scores = model(words).view(len(PAIRS), 4, len(letters))
    loss = torch.zeros(())
    for number in range(len(PAIRS)):
        loss = criterion(scores[number], answers[number])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if epoch % 40 == 39:
        right = (scores.argmax(-1) == answers).float().mean()
        print(f"epoch {epoch + 1} loss {loss.item():.4f} letters right {right.item():.3f}")
