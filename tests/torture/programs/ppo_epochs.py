"""Actor-critic PPO: a rollout without gradients, several epochs of shuffled minibatches over it, early stop on KL divergence."""
import torch
from torch import nn
from torch.distributions import Categorical


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 12), nn.Tanh())
        self.actor, self.critic = nn.Linear(12, 3), nn.Linear(12, 1)
        for layer in self.modules():
            if isinstance(layer, nn.Linear):
                nn.init.orthogonal_(layer.weight, 0.5)

    def get_value(self, x):
        return self.critic(self.body(x)).squeeze(-1)

    def act(self, x, action=None):
        h = self.body(x)
        spread = Categorical(logits=self.actor(h))
        action = spread.sample() if action is None else action
        return action, spread.log_prob(action), spread.entropy(), self.critic(h).squeeze(-1)


torch.manual_seed(0)
agent = Agent()
optimizer = torch.optim.Adam(agent.parameters(), lr=5e-3, eps=1e-5)
for update in range(3):
    optimizer.param_groups[0]["lr"] = (1 - update / 3) * 5e-3
    states = torch.randn(24, 4)
    with torch.no_grad():
        actions, old, _, values = agent.act(states)
        rewards = (actions == states.argmax(1) % 3).float()
        advantage = rewards - values
    steps = 0
    for _ in range(4):
        for pick in torch.randperm(24).split(10):
            _, new, entropy, value = agent.act(states[pick], actions[pick])
            ratio = (new - old[pick]).exp()
            a = (advantage[pick] - advantage[pick].mean()) / (advantage[pick].std() + 1e-8)
            loss = torch.max(-a * ratio, -a * ratio.clamp(0.8, 1.2)).mean() - 0.01 * entropy.mean() + 0.5 * (value - rewards[pick]).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
            optimizer.step()
            steps += 1
        if (old[pick] - new).mean().item() > 0.02:
            break
    with torch.no_grad():
        bootstrap = agent.get_value(states).mean()
    print(update, steps, loss.item().hex(), rewards.mean().item().hex(), bootstrap.item().hex())
