"""A conditional DP-GAN: a generator of rows, and a critic whose gradients on people are clipped and meet noise.

3/10 of ρ measure the single columns, as every method here does; the generator begins there, so an untrained one makes
independent columns. Cells are put together as in latent classes. The rest of ρ pays for full-batch steps of the critic,
by Opacus: see `descent`. The generator sees the data through the critic alone. A row is made for a group of the last
column, which its noisy counts deal out.

Source: Xie et al. 2018 (DP-GAN); conditions and Gumbel-softmax for columns of categories as in Xu et al. 2019 (CTGAN).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
import torch
from opacus.accountants import RDPAccountant
from opacus.grad_sample import GradSampleModuleFastGradientClipping
from opacus.utils.fast_gradient_clipping_utils import DPTensorFastGradientClipping
from torch import Tensor, nn
from torch.nn import functional

from mechanisms.domain import Domain
from mechanisms.microdata.apportioning import dealt
from mechanisms.noise import Noise
from tests.benchmarks.rivals.descent import ExactNoise, noise_multiplier, step_law
from tests.benchmarks.rivals.starting import MARGIN_SHARE, start

STEPS, GENERATOR_STEPS, MADE = 100, 2, 2048
# The critic's first steps, during which the generator waits: it would follow a critic that knows nothing.
ALONE = 10
HIDDEN, NOISES = 64, 32
# The bound on the norm of a person's gradient.
CLIP = 1.0
TEMPERATURE = 0.5
CRITIC_RATE, GENERATOR_RATE = 2e-3, 3e-4


class Generator(nn.Module):
    """From noise and a group of the last column to the logits of all other columns' groups, around their shares."""

    def __init__(self, sizes: Sequence[int], shares: np.ndarray) -> None:
        super().__init__()
        self.sizes = tuple(sizes)
        free = sum(sizes[:-1])
        self.layers = nn.Sequential(
            nn.Linear(NOISES + sizes[-1], HIDDEN),
            nn.LeakyReLU(0.2),
            nn.Linear(HIDDEN, HIDDEN),
            nn.LeakyReLU(0.2),
        )
        self.last = nn.Linear(HIDDEN, free)
        with torch.no_grad():
            self.last.weight.mul_(0.1)
            self.last.bias.copy_(torch.from_numpy(np.log(shares[:free] + 1e-6)))

    def forward(self, conditions: Tensor) -> list[Tensor]:
        given = functional.one_hot(conditions, self.sizes[-1]).float()
        hidden = self.layers(torch.cat([torch.randn(len(conditions), NOISES), given], dim=1))
        return list(self.last(hidden).split(self.sizes[:-1], dim=1))

    def soft(self, conditions: Tensor) -> Tensor:
        """Rows as the critic sees them: cells nearly 0 or 1, through which gradients pass."""
        columns = [functional.gumbel_softmax(logits, tau=TEMPERATURE) for logits in self(conditions)]
        return torch.cat([*columns, functional.one_hot(conditions, self.sizes[-1]).float()], dim=1)

    @torch.no_grad()
    def rows(self, conditions: Tensor) -> np.ndarray:
        columns = [functional.gumbel_softmax(logits, hard=True).argmax(dim=1) for logits in self(conditions)]
        return torch.stack([*columns, conditions], dim=1).numpy()


def critic(cells: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Linear(cells, HIDDEN),
        nn.LeakyReLU(0.2),
        nn.Linear(HIDDEN, HIDDEN),
        nn.LeakyReLU(0.2),
        nn.Linear(HIDDEN, 1),
    )


class PrivateCritic:
    """A critic that learns from people by `STEPS` full-batch steps of ρ in all, and from made rows as they come."""

    def __init__(self, people: Tensor, total: float, rho: Fraction, noise: Noise) -> None:
        self.people, self.total = people, total
        self.open = critic(people.shape[1])
        # The same weights with Opacus's hooks: whatever passes here is clipped row by row.
        hooked = critic(people.shape[1])
        for layer, shared in zip(hooked, self.open, strict=True):
            if isinstance(layer, nn.Linear):
                layer.weight, layer.bias = shared.weight, shared.bias
        self.hooked = GradSampleModuleFastGradientClipping(
            hooked, max_grad_norm=CLIP, use_ghost_clipping=True, loss_reduction="sum"
        )
        parameters = sum(p.numel() for p in self.open.parameters())
        self.optimiser = ExactNoise(
            torch.optim.Adam(self.hooked.parameters(), lr=CRITIC_RATE, betas=(0.5, 0.9)),
            noise_multiplier=noise_multiplier(rho, STEPS),
            max_grad_norm=CLIP,
            expected_batch_size=None,
            loss_reduction="sum",
            law=step_law(rho, STEPS, parameters),
            noise=noise,
        )
        self.accountant = RDPAccountant()
        self.optimiser.attach_step_hook(self.accountant.get_optimizer_hook_fn(sample_rate=1.0))

    def step(self, made: Tensor) -> None:
        """People's clipped gradients and noise, over their noisy number; then those of the made rows, without."""
        self.optimiser.zero_grad()
        losses = functional.softplus(-self.hooked(self.people)).squeeze(1)
        DPTensorFastGradientClipping(self.hooked, self.optimiser, losses, "sum").backward()
        self.optimiser.pre_step()
        weights = list(self.open.parameters())
        found = torch.autograd.grad(functional.softplus(self.open(made)).mean(), weights)
        for weight, gradient in zip(weights, found, strict=True):
            weight.grad = weight.grad / self.total + gradient
        self.optimiser.original_optimizer.step()


def one_hot(rows: np.ndarray, sizes: Sequence[int]) -> Tensor:
    """(n, d) cells to (n, Σ cells) zeros and ones."""
    columns = [functional.one_hot(torch.from_numpy(rows[:, j]), c) for j, c in enumerate(sizes)]
    return torch.cat(columns, dim=1).float()


def synthesise(
    domain: Domain, rows: np.ndarray, rho: Fraction, watch: Callable[[int, np.ndarray], None] | None = None
) -> np.ndarray:
    """(noisy total, d) cells made for (n, d) cells of people, ρ-zCDP up to the arithmetic of floats.

    watch: told the step and rows made then, to see how training goes.
    """
    torch.set_num_threads(1)
    noise = Noise()
    random = np.random.default_rng()
    begun = start(domain, rows, rho, noise)
    sizes, shares = begun.grouping.sizes, [begun.shares(j) for j in range(len(domain.shape))]
    critic = PrivateCritic(one_hot(begun.secret, sizes), begun.margins.total, rho * (1 - MARGIN_SHARE), noise)
    generator = Generator(sizes, np.concatenate(shares))
    optimiser = torch.optim.Adam(generator.parameters(), lr=GENERATOR_RATE, betas=(0.5, 0.9))
    everyone = np.zeros(begun.rows, dtype=np.int64)
    conditions = torch.from_numpy(dealt(everyone, shares[-1][None, :], random))

    def some() -> Tensor:
        return conditions[torch.from_numpy(random.integers(0, len(conditions), MADE))]

    for step in range(STEPS):
        with torch.no_grad():
            made = generator.soft(some())
        critic.step(made)
        for _ in range(GENERATOR_STEPS if step >= ALONE else 0):
            optimiser.zero_grad()
            functional.softplus(-critic.open(generator.soft(some()))).mean().backward()
            optimiser.step()
        if watch is not None:
            watch(step + 1, begun.cells(generator.rows(conditions)))
    return begun.cells(generator.rows(conditions))
