"""Healthy loops that look like faults: GANs, frozen parts, zero starts, experts, teachers, stop-gradients, sums."""

from __future__ import annotations

import copy

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint


def clf(n=256, d=8, c=4):
    x = torch.randn(n, d)
    return x, (x @ torch.randn(d, c)).argmax(1)


def gan():
    G = nn.Sequential(nn.Linear(4, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 2))
    D = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Dropout(0.3), nn.Linear(16, 1))
    og = torch.optim.Adam(G.parameters(), 2e-4)
    od = torch.optim.Adam(D.parameters(), 2e-4)
    for i in range(12):
        real = torch.randn(32, 2) + 2
        z = torch.randn(32, 4)
        ld = F.binary_cross_entropy_with_logits(D(real), torch.full((32, 1), 0.9)) + F.binary_cross_entropy_with_logits(
            D(G(z).detach()), torch.zeros(32, 1)
        )
        od.zero_grad()
        ld.backward()
        od.step()
        if i % 5 == 4:
            lg = F.binary_cross_entropy_with_logits(D(G(z)), torch.ones(32, 1))
            og.zero_grad()
            lg.backward()
            og.step()
        if i % 5 == 4:
            G.eval()
            with torch.no_grad():
                G(torch.randn(8, 4))
            G.train()


def gan_probs():
    G = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
    D = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1), nn.Sigmoid())
    og = torch.optim.Adam(G.parameters(), 2e-4)
    od = torch.optim.Adam(D.parameters(), 2e-4)
    bce = nn.BCELoss()
    for _i in range(12):
        real = torch.randn(32, 2) + 2
        z = torch.randn(32, 4)
        fake = G(z)
        ld = bce(D(real), torch.ones(32, 1)) + bce(D(fake.detach()), torch.zeros(32, 1))
        od.zero_grad()
        ld.backward()
        od.step()
        lg = bce(D(fake), torch.ones(32, 1))
        og.zero_grad()
        lg.backward()
        og.step()


def wgan():
    G = nn.Linear(4, 2)
    D = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 1))
    og = torch.optim.RMSprop(G.parameters(), 1e-3)
    od = torch.optim.RMSprop(D.parameters(), 1e-3)
    for i in range(12):
        loss = D(G(torch.randn(32, 4)).detach()).mean() - D(torch.randn(32, 2)).mean()
        od.zero_grad()
        loss.backward()
        od.step()
        for p in D.parameters():
            p.data.clamp_(-0.1, 0.1)
        if i % 5 == 4:
            loss = -D(G(torch.randn(32, 4))).mean()
            og.zero_grad()
            loss.backward()
            og.step()


def frozen():
    B = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU())
    for p in B.parameters():
        p.requires_grad_(False)

    class M(nn.Module):
        def __init__(self):
            super().__init__()
            self.b = B
            self.h = nn.Linear(8, 3)

        def forward(self, x):
            return self.h(self.b(x).mean((2, 3)))

        def train(self, mode=True):
            super().train(mode)
            self.b.eval()
            return self

    m = M()
    o = torch.optim.Adam(m.parameters(), 1e-3)
    for _e in range(3):
        m.train()
        for _i in range(20):
            loss = F.cross_entropy(m(torch.randn(8, 3, 6, 6)), torch.randint(0, 3, (8,)))
            o.zero_grad()
            loss.backward()
            o.step()
        m.eval()
        with torch.no_grad():
            m(torch.randn(8, 3, 6, 6))


def bnfreeze_late():
    m = nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 4))
    o = torch.optim.SGD(m.parameters(), 0.05)
    x, y = clf()
    for e in range(6):
        m.train()
        if e >= 3:
            for k in m.modules():
                if isinstance(k, nn.BatchNorm1d):
                    k.eval()
        for i in range(20):
            loss = F.cross_entropy(m(x[i * 8 : i * 8 + 8]), y[i * 8 : i * 8 + 8])
            o.zero_grad()
            loss.backward()
            o.step()
        m.eval()
        with torch.no_grad():
            m(x)


def lora():
    class L(nn.Module):
        def __init__(self, b):
            super().__init__()
            self.b = b.requires_grad_(False)
            self.A = nn.Linear(b.in_features, 4, bias=False)
            self.B = nn.Linear(4, b.out_features, bias=False)
            nn.init.zeros_(self.B.weight)

        def forward(self, x):
            return self.b(x) + self.B(self.A(x))

    m = nn.Sequential(L(nn.Linear(8, 32)), nn.ReLU(), L(nn.Linear(32, 4)))
    o = torch.optim.AdamW([p for p in m.parameters() if p.requires_grad], 1e-3)
    x, y = clf()
    for _i in range(12):
        loss = F.cross_entropy(m(x), y)
        o.zero_grad()
        loss.backward()
        o.step()


def dit():
    class Blk(nn.Module):
        def __init__(self, d):
            super().__init__()
            self.n = nn.LayerNorm(d, elementwise_affine=False)
            self.f = nn.Sequential(nn.Linear(d, 2 * d), nn.GELU(), nn.Linear(2 * d, d))
            self.ada = nn.Sequential(nn.SiLU(), nn.Linear(d, 3 * d))
            nn.init.zeros_(self.ada[1].weight)
            nn.init.zeros_(self.ada[1].bias)

        def forward(self, x, c):
            a, b, g = self.ada(c).chunk(3, -1)
            return x + g * self.f(self.n(x) * (1 + a) + b)

    class D(nn.Module):
        def __init__(self):
            super().__init__()
            self.i = nn.Linear(6, 16)
            self.t = nn.Linear(1, 16)
            self.bl = nn.ModuleList([Blk(16) for _ in range(3)])
            self.o = nn.Linear(16, 6)
            nn.init.zeros_(self.o.weight)
            nn.init.zeros_(self.o.bias)

        def forward(self, x, t):
            x = self.i(x)
            c = self.t(t)
            for b in self.bl:
                x = b(x, c)
            return self.o(x)

    m = D()
    o = torch.optim.AdamW(m.parameters(), 1e-3)
    sch = torch.optim.lr_scheduler.LambdaLR(o, lambda k: min(1, k / 10))
    for _i in range(12):
        x = torch.randn(16, 6)
        t = torch.rand(16, 1)
        n = torch.randn(16, 6)
        loss = F.mse_loss(m(x * (1 - t) + n * t, t), n)
        o.zero_grad()
        loss.backward()
        o.step()
        sch.step()


def moe():
    class E(nn.Module):
        def __init__(self):
            super().__init__()
            self.g = nn.Linear(8, 6)
            self.e = nn.ModuleList([nn.Linear(8, 4) for _ in range(6)])

        def forward(self, x):
            p = self.g(x).softmax(-1)
            w, k = p.max(-1)
            out = x.new_zeros(len(x), 4)
            for j, e in enumerate(self.e):
                r = k == j
                if r.any():
                    out[r] = e(x[r]) * w[r, None]
            return out

    m = E()
    o = torch.optim.Adam(m.parameters(), 1e-3)
    x, y = clf()
    for i in range(12):
        j = i * 4
        loss = F.cross_entropy(m(x[j : j + 4]), y[j : j + 4])
        o.zero_grad()
        loss.backward()
        o.step()


def tied():
    class T(nn.Module):
        def __init__(self):
            super().__init__()
            self.e = nn.Embedding(20, 16)
            self.r = nn.GRU(16, 16, batch_first=True)
            self.h = nn.Linear(16, 20, bias=False)
            self.h.weight = self.e.weight

        def forward(self, x):
            return self.h(self.r(self.e(x))[0])

    m = T()
    o = torch.optim.Adam(m.parameters(), 1e-3)
    d = torch.randint(0, 20, (64, 9))
    for i in range(12):
        t = d[i % 8 * 8 : i % 8 * 8 + 8]
        loss = F.cross_entropy(m(t[:, :-1]).transpose(1, 2), t[:, 1:])
        o.zero_grad()
        loss.backward()
        o.step()


def distill():
    x, y = clf()
    T = nn.Sequential(nn.Linear(8, 32), nn.Dropout(0.1), nn.Linear(32, 4)).eval()
    S = nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.1), nn.ReLU(), nn.Linear(8, 4))
    o = torch.optim.Adam(S.parameters(), 1e-3)
    for _i in range(12):
        with torch.no_grad():
            t = T(x)
        s = S(x)
        loss = (
            F.kl_div(F.log_softmax(s / 2, -1), F.softmax(t / 2, -1), reduction="batchmean") * 4
            + F.cross_entropy(s, t.softmax(-1))
            + F.cross_entropy(s, y)
        )
        o.zero_grad()
        loss.backward()
        o.step()


def ppo():
    P = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 3))
    V = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
    o = torch.optim.Adam([*P.parameters(), *V.parameters()], 3e-4)
    for _it in range(20):
        s = torch.randn(64, 4)
        with torch.no_grad():
            d = torch.distributions.Categorical(logits=P(s))
            a = d.sample()
            lp = d.log_prob(a)
            ret = torch.randn(64)
            adv = ret - V(s).squeeze(-1)
        for _k in range(4):
            d = torch.distributions.Categorical(logits=P(s))
            r = (d.log_prob(a) - lp).exp()
            loss = (
                -torch.min(r * adv, r.clamp(0.8, 1.2) * adv).mean()
                + F.mse_loss(V(s).squeeze(-1), ret)
                - 0.01 * d.entropy().mean()
            )
            o.zero_grad()
            loss.backward()
            o.step()


def dqn():
    Q = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3))
    T = copy.deepcopy(Q)
    o = torch.optim.Adam(Q.parameters(), 1e-3)
    for it in range(12):
        s = torch.randn(32, 4)
        a = torch.randint(0, 3, (32, 1))
        r = torch.randn(32)
        q = Q(s).gather(1, a)
        y = r + 0.9 * T(torch.randn(32, 4)).max(1).values.detach()
        loss = F.smooth_l1_loss(q, y.unsqueeze(1))
        o.zero_grad()
        loss.backward()
        o.step()
        if it % 5 == 0:
            T.load_state_dict(Q.state_dict())


def ac_detach():
    class AC(nn.Module):
        def __init__(self):
            super().__init__()
            self.e = nn.Linear(4, 16)
            self.p = nn.Linear(16, 3)
            self.v = nn.Linear(16, 1)

        def forward(self, x):
            h = torch.tanh(self.e(x))
            return self.p(h), self.v(h.detach())

    m = AC()
    o = torch.optim.Adam(m.parameters(), 1e-3)
    for _i in range(12):
        logits, v = m(torch.randn(16, 4))
        loss = F.cross_entropy(logits, torch.randint(0, 3, (16,))) + v.square().mean()
        o.zero_grad()
        loss.backward()
        o.step()


def vqvae():
    E = nn.Linear(8, 4)
    D = nn.Linear(4, 8)
    C = nn.Embedding(16, 4)
    o = torch.optim.Adam([*E.parameters(), *D.parameters(), *C.parameters()], 1e-3)
    for _i in range(12):
        x = torch.randn(32, 8)
        z = E(x)
        k = torch.cdist(z, C.weight).argmin(1)
        q = C(k)
        st = z + (q - z).detach()
        loss = F.mse_loss(D(st), x) + F.mse_loss(q, z.detach()) + 0.25 * F.mse_loss(z, q.detach())
        o.zero_grad()
        loss.backward()
        o.step()


def simsiam():
    m = nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 8))
    h = nn.Linear(8, 8)
    o = torch.optim.SGD([*m.parameters(), *h.parameters()], 0.05)
    for _i in range(12):
        x = torch.randn(32, 8)
        a, b = m(x + 0.1 * torch.randn(32, 8)), m(x + 0.1 * torch.randn(32, 8))
        loss = -F.cosine_similarity(h(a), b.detach()).mean() - F.cosine_similarity(h(b), a.detach()).mean()
        o.zero_grad()
        loss.backward()
        o.step()


def deepdream():
    m = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
    img = torch.randn(4, 8, requires_grad=True)
    o = torch.optim.Adam([img], 0.05)
    for _i in range(12):
        loss = -m(img)[:, 1].mean()
        o.zero_grad()
        loss.backward()
        o.step()


def adversarial():
    m = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))
    o = torch.optim.SGD(m.parameters(), 0.05)
    x, y = clf()
    for i in range(12):
        j = i % 30 * 8
        xb = x[j : j + 8].clone().requires_grad_(True)
        (g,) = torch.autograd.grad(F.cross_entropy(m(xb), y[j : j + 8]), xb)
        loss = F.cross_entropy(m((xb + 0.1 * g.sign()).detach()), y[j : j + 8])
        o.zero_grad()
        loss.backward()
        o.step()


def linear_probe():
    b = nn.Sequential(nn.Linear(8, 64), nn.ReLU()).eval()
    h = nn.Linear(64, 4)
    o = torch.optim.Adam(h.parameters(), 1e-3)
    x, y = clf()
    for _i in range(12):
        with torch.no_grad():
            f = b(x)
        loss = F.cross_entropy(h(f), y)
        o.zero_grad()
        loss.backward()
        o.step()


def multitask():
    B = nn.Linear(8, 16)
    H = nn.ModuleList([nn.Linear(16, 3) for _ in range(4)])

    class M(nn.Module):
        def __init__(self):
            super().__init__()
            self.b = B
            self.h = H

        def forward(self, x, k):
            return self.h[k](torch.relu(self.b(x)))

    m = M()
    o = torch.optim.Adam(m.parameters(), 1e-3)
    for i in range(12):
        loss = F.cross_entropy(m(torch.randn(8, 8), i // 3), torch.randint(0, 3, (8,)))
        o.zero_grad()
        loss.backward()
        o.step()


def kpconv_pairwise():
    m = nn.Linear(8, 1)
    o = torch.optim.Adam(m.parameters(), 1e-3)
    x = torch.randn(64, 8)
    y = torch.randn(64)
    for _i in range(12):
        s = m(x).squeeze(1)
        d = s.unsqueeze(1) - s.unsqueeze(0)
        t = (y.unsqueeze(1) > y.unsqueeze(0)).float()
        loss = F.binary_cross_entropy_with_logits(d, t)
        o.zero_grad()
        loss.backward()
        o.step()


def mcdropout_rl():
    x, y = clf()
    m = nn.Sequential(nn.Linear(8, 32), nn.Dropout(0.2), nn.ReLU(), nn.Linear(32, 4))
    o = torch.optim.Adam(m.parameters(), 1e-3)
    for i in range(12):
        loss = F.cross_entropy(m(x), y)
        o.zero_grad()
        loss.backward()
        o.step()
        if i % 5 == 4:
            with torch.no_grad():
                torch.stack([m(x) for _ in range(5)]).var(0)


def meanteacher():
    x, y = clf()
    S = nn.Sequential(nn.Linear(8, 32), nn.Dropout(0.2), nn.ReLU(), nn.Linear(32, 4))
    T = copy.deepcopy(S)
    for p in T.parameters():
        p.detach_()
    o = torch.optim.Adam(S.parameters(), 1e-3)
    for _i in range(12):
        loss = F.cross_entropy(S(x), y) + F.mse_loss(S(x).softmax(1), T(x).softmax(1).detach())
        o.zero_grad()
        loss.backward()
        o.step()
        with torch.no_grad():
            for a, b in zip(T.parameters(), S.parameters(), strict=False):
                a.mul_(0.99).add_(b, alpha=0.01)


def segmask():
    m = nn.Conv2d(3, 1, 3, padding=1)
    o = torch.optim.Adam(m.parameters(), 1e-3)
    for _i in range(12):
        x = torch.randn(4, 3, 8, 8)
        y = torch.randint(-1, 2, (4, 1, 8, 8)).float()
        loss = (F.binary_cross_entropy_with_logits(m(x), y, reduction="none") * (y >= 0)).mean()
        o.zero_grad()
        loss.backward()
        o.step()


def vae_sum():
    E = nn.Linear(16, 8)
    D = nn.Linear(4, 16)
    o = torch.optim.Adam([*E.parameters(), *D.parameters()], 1e-3)
    for _i in range(12):
        x = torch.rand(64, 16)
        mu, lv = E(x).chunk(2, 1)
        z = mu + torch.randn_like(mu) * (lv / 2).exp()
        loss = F.binary_cross_entropy_with_logits(D(z), x, reduction="sum") - 0.5 * (1 + lv - mu**2 - lv.exp()).sum()
        o.zero_grad()
        loss.backward()
        o.step()


def checkpointed():
    class M(nn.Module):
        def __init__(self):
            super().__init__()
            self.a = nn.Linear(8, 16)
            self.b = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 16))
            self.h = nn.Linear(16, 4)

        def forward(self, x):
            return self.h(checkpoint(self.b, torch.relu(self.a(x)), use_reentrant=True))

    x, y = clf()
    m = M()
    o = torch.optim.Adam(m.parameters(), 1e-3)
    for _i in range(12):
        loss = F.cross_entropy(m(x), y)
        o.zero_grad()
        loss.backward()
        o.step()


def maml():
    m = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
    o = torch.optim.Adam(m.parameters(), 1e-3)
    for _i in range(12):
        fast = copy.deepcopy(m)
        fo = torch.optim.SGD(fast.parameters(), 0.01)
        x = torch.randn(16, 4)
        y = x.sum(1, keepdim=True)
        for _k in range(3):
            loss = F.mse_loss(fast(x), y)
            fo.zero_grad()
            loss.backward()
            fo.step()
        loss = F.mse_loss(fast(x), y)
        fo.zero_grad()
        loss.backward()
        for p, q in zip(m.parameters(), fast.parameters(), strict=False):
            p.grad = q.grad.clone()
        o.step()


def perceptual():
    vgg = [nn.Sequential(nn.Linear(8, 16), nn.ReLU())]
    with torch.no_grad():
        vgg[0][0].weight.mul_(1 + torch.rand(16, 1))  # trained before: no longer what a new layer is drawn with

    class M(nn.Module):
        def __init__(self):
            super().__init__()
            self.a = nn.Linear(8, 8)
            self.v = vgg

        def forward(self, x):
            y = self.a(x)
            return (self.v[0](y) - self.v[0](x)).square().mean()

    m = M()
    o = torch.optim.Adam(m.parameters(), 1e-3)
    for _i in range(12):
        loss = m(torch.randn(16, 8))
        o.zero_grad()
        loss.backward()
        o.step()


def eval_only_gen():
    x, y = clf()
    m = nn.Sequential(nn.Linear(8, 32), nn.Dropout(0.2), nn.ReLU(), nn.Linear(32, 4))
    m.eval()
    o = torch.optim.Adam(m.parameters(), 1e-3)
    for _i in range(12):
        loss = F.cross_entropy(m(x), y)
        o.zero_grad()
        loss.backward()
        o.step()


def resnet_zero_gamma():
    class R(nn.Module):
        def __init__(self, c):
            super().__init__()
            self.c1 = nn.Conv2d(c, c, 3, padding=1)
            self.b = nn.BatchNorm2d(c)
            self.c2 = nn.Conv2d(c, c, 3, padding=1)
            nn.init.zeros_(self.c2.weight)
            nn.init.zeros_(self.c2.bias)

        def forward(self, x):
            return F.relu(x + self.c2(F.relu(self.b(self.c1(x)))))

    m = nn.Sequential(nn.Conv2d(3, 8, 3), R(8), R(8), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 3))
    o = torch.optim.SGD(m.parameters(), 0.05)
    for _i in range(12):
        loss = F.cross_entropy(m(torch.randn(8, 3, 8, 8)), torch.randint(0, 3, (8,)))
        o.zero_grad()
        loss.backward()
        o.step()


def zero_head():
    x, y = clf()
    h = nn.Linear(32, 4)
    nn.init.zeros_(h.weight)
    nn.init.zeros_(h.bias)
    m = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), h)
    o = torch.optim.SGD(m.parameters(), 0.1)
    for _i in range(12):
        loss = F.cross_entropy(m(x), y)
        o.zero_grad()
        loss.backward()
        o.step()


def toy_line():
    x = torch.linspace(0, 1, 64)[:, None]
    y = 2 * x + 1
    m = nn.Linear(1, 1)
    o = torch.optim.SGD(m.parameters(), 0.1)
    for _ in range(12):
        loss = F.mse_loss(m(x), y)
        o.zero_grad()
        loss.backward()
        o.step()


def text_autoencoder():
    class Codes(nn.Module):
        def __init__(self):
            super().__init__()
            self.e = nn.Embedding(20, 12)
            self.r = nn.GRU(12, 8, batch_first=True, bidirectional=True)
            self.h = nn.Linear(16, 20)

        def forward(self, x):
            code = self.r(self.e(x))[0].mean(1, keepdim=True)
            return self.h(code + self.r(self.e(x))[0])

    m = Codes()
    o = torch.optim.Adam(m.parameters(), 1e-3)
    for _ in range(12):
        x = torch.randint(0, 20, (8, 9))
        loss = F.cross_entropy(m(x).transpose(1, 2), x)
        o.zero_grad()
        loss.backward()
        o.step()


LOOPS = [
    gan,
    gan_probs,
    wgan,
    frozen,
    bnfreeze_late,
    lora,
    dit,
    moe,
    tied,
    distill,
    ppo,
    dqn,
    ac_detach,
    vqvae,
    simsiam,
    deepdream,
    adversarial,
    linear_probe,
    multitask,
    kpconv_pairwise,
    mcdropout_rl,
    meanteacher,
    segmask,
    vae_sum,
    checkpointed,
    maml,
    perceptual,
    eval_only_gen,
    resnet_zero_gamma,
    zero_head,
    toy_line,
    text_autoencoder,
]
