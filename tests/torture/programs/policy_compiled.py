"""REINFORCE whose policy is compiled with backend aot_eager; the same compiled module acts without and learns with gradients."""
import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
fast = torch.compile(policy, backend="aot_eager", dynamic=False)
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
for episode in range(3):
    states = torch.randn(5, 4)
    with torch.no_grad():
        actions = Categorical(logits=fast(states)).sample()
    gain = actions.float() - 1
    logits = fast(states)
    loss = -(Categorical(logits=logits).log_prob(actions) * gain).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(episode, loss.item().hex(), actions.tolist())
print([p.double().sum().item().hex() for p in policy.parameters()], type(fast).__name__)
