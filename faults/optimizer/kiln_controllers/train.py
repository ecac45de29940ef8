"""Worth of a kiln's temperature and fuel setting, for two critics that each have a slow network of their own."""

import torch
from torch import nn


class Critic(nn.Module):
    def __init__(self, rate):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 1))
        self.optimizer = torch.optim.Adam(self.parameters(), lr=rate)

    def forward(self, heat, fuel):
        return self.body(torch.cat([heat, heat.square(), fuel], 1)).squeeze(1)

    def learn(self, heat, fuel, wanted):
        loss = nn.functional.smooth_l1_loss(self(heat, fuel), wanted)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def trail(self, slow, share=0.03):
        for a, b in zip(slow.parameters(), self.parameters()):
            b.data.copy_(a.data * share + b.data * (1 - share))


def firing(n, generator):
    heat = 2 * torch.rand(n, 1, generator=generator) - 1
    fuel = 2 * torch.rand(n, 1, generator=generator) - 1
    after = (heat + 0.4 * fuel - 0.1 * heat**3).clamp(-1, 1)
    return heat, fuel, after, 1 - (after - 0.5).abs().squeeze(1)


def main():
    torch.manual_seed(5)
    generator = torch.Generator().manual_seed(8)
    critics = [Critic(3e-3), Critic(3e-3)]
    slow = [Critic(3e-3), Critic(3e-3)]
    for critic, behind in zip(critics, slow):
        behind.load_state_dict(critic.state_dict())
    for step in range(500):
        heat, fuel, after, reward = firing(64, generator)
        with torch.no_grad():
            choice = 2 * torch.rand(64, 1, generator=generator) - 1
            wanted = reward + 0.9 * torch.minimum(slow[0](after, choice), slow[1](after, choice))
        losses = [critic.learn(heat, fuel, wanted) for critic in critics]
        for critic, behind in zip(critics, slow):
            critic.trail(behind)
        if step % 100 == 99:
            print(f"step {step + 1} losses {losses[0]:.4f} {losses[1]:.4f}")
    heat, fuel, _, _ = firing(500, generator)
    print(f"mean worth {critics[0](heat, fuel).mean():.3f}")


if __name__ == "__main__":
    main()
