"""REINFORCE with torch.distributions: sampling with the graph alive, log_prob kept in a list over an episode, negative losses."""
import torch
from torch import nn
from torch.distributions import Categorical, Independent, Normal

torch.manual_seed(0)
trunk, choice, mean = nn.Linear(3, 8), nn.Linear(8, 2), nn.Linear(8, 2)
spread = nn.Parameter(torch.zeros(2))
params = [*trunk.parameters(), *choice.parameters(), *mean.parameters(), spread]
optimizer = torch.optim.Adam(params, lr=1e-2, maximize=True)
for episode in range(4):
    state, words, rewards = torch.zeros(3), [], []
    for _ in range(6):
        h = torch.tanh(trunk(state))
        discrete, smooth = Categorical(logits=choice(h)), Independent(Normal(mean(h), spread.exp()), 1)
        a, b = discrete.sample(), smooth.rsample()
        words.append(discrete.log_prob(a) + smooth.log_prob(b.detach()) + 0.01 * (discrete.entropy() + smooth.entropy()))
        rewards.append(float(a) - b.detach().abs().sum().item())
        state = torch.cat([b.detach(), a[None].float()])
    back, returns = 0.0, []
    for r in reversed(rewards):
        back = r + 0.9 * back
        returns.insert(0, back)
    gain = torch.tensor(returns)
    gain = (gain - gain.mean()) / (gain.std() + 1e-8)
    loss = (torch.stack(words) * gain).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(episode, loss.item().hex(), sum(rewards).hex())
print(spread.tolist(), sum(p.double().sum().item() for p in params).hex())
