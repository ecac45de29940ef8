"""Policy gradient on a small grid: walk to the goal, first from nearby, later from anywhere."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SIZE, EPISODES, HORIZON, UPDATES = 6, 48, 14, 320
GAMMA, VALUE_WEIGHT, ENTROPY_WEIGHT, KL_TARGET = 0.95, 0.5, 0.01, 0.01
MOVES = torch.tensor([[0, 1], [0, -1], [1, 0], [-1, 0]])


class Grid:
    """Many games at once; a game ends at the goal."""

    def __init__(self, count, generator):
        self.count, self.g = count, generator

    def reset(self, reach):
        self.goal = torch.randint(0, SIZE, (self.count, 2), generator=self.g)
        offset = torch.randint(-reach, reach + 1, (self.count, 2), generator=self.g)
        self.place = (self.goal + offset).clamp(0, SIZE - 1)
        self.alive = torch.ones(self.count, dtype=torch.bool)
        return self.view()

    def view(self):
        seen = F.one_hot(self.place, SIZE).flatten(1), F.one_hot(self.goal, SIZE).flatten(1)
        target = self.place[:, None] + MOVES
        legal = ((target >= 0) & (target < SIZE)).all(2)
        return torch.cat(seen, 1).float(), legal

    def step(self, action):
        self.place = torch.where(self.alive[:, None], self.place + MOVES[action], self.place).clamp(0, SIZE - 1)
        arrived = self.alive & (self.place == self.goal).all(1)
        reward = arrived.float() - 0.01 * self.alive.float()
        self.alive = self.alive & ~arrived
        return reward


class ActorCritic(nn.Module):
    def __init__(self, width=48):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(4 * SIZE, width), nn.Tanh(), nn.Dropout(0.05), nn.Linear(width, width), nn.Tanh())
        self.actor, self.critic = nn.Linear(width, 4), nn.Linear(width, 1)

    def forward(self, view, legal):
        h = self.trunk(view)
        logits = self.actor(h).masked_fill(~legal, -1e9)
        return F.log_softmax(logits, -1), self.critic(h).squeeze(-1)


@torch.no_grad()
def play(policy, grid, reach):
    view, legal = grid.reset(reach)
    steps = {"view": [], "legal": [], "action": [], "reward": [], "alive": [], "logp": []}
    for _ in range(HORIZON):
        logp, _ = policy(view, legal)
        action = torch.multinomial(logp.exp(), 1, generator=grid.g).squeeze(1)
        alive = grid.alive.float()
        reward = grid.step(action)
        for name, value in zip(steps, (view, legal, action, reward, alive, logp)):
            steps[name].append(value)
        view, legal = grid.view()
    return {name: torch.stack(values) for name, values in steps.items()}


def discounted(reward):
    total, returns = torch.zeros_like(reward[0]), []
    for r in reward.flip(0):
        total = r + GAMMA * total
        returns.append(total)
    return torch.stack(returns).flip(0)


def losses(policy, games):
    logp, value = policy(games["view"], games["legal"])
    alive = games["alive"]
    returns = discounted(games["reward"])
    taken = logp.gather(-1, games["action"][..., None]).squeeze(-1)
    gain = (returns - value.detach())[alive > 0]
    weight = (gain - gain.mean()) / (gain.std() + 1e-6)
    actor = -(weight * taken[alive > 0]).mean()
    critic = ((value - returns).pow(2) * alive).sum() / alive.sum()
    entropy = -((logp.exp() * logp).sum(-1) * alive).sum() / alive.sum()
    return actor, critic, entropy


@torch.no_grad()
def success(policy):
    policy.eval()
    grid = Grid(200, torch.Generator().manual_seed(77))
    games = play(policy, grid, SIZE)
    policy.train()
    return 1 - grid.alive.float().mean().item(), games["alive"].sum(0).mean().item()


def main():
    torch.manual_seed(0)
    grid = Grid(EPISODES, torch.Generator().manual_seed(2))
    policy = ActorCritic()
    optimizer = torch.optim.Adam(policy.parameters(), lr=3e-3)
    running = 0.0
    for update in range(UPDATES):
        games = play(policy, grid, reach=2 if update < 120 else SIZE)
        actor, critic, entropy = losses(policy, games)
        loss = actor + VALUE_WEIGHT * critic - ENTROPY_WEIGHT * entropy
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
        optimizer.step()
        running = 0.95 * running + 0.05 * loss.item()
        if update % 40 == 39:
            won, length = success(policy)
            print(f"update {update} loss {running:.3f} entropy {entropy.item():.2f} success {won:.2f} length {length:.1f}")


if __name__ == "__main__":
    main()
