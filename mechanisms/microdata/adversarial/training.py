"""Critic and generator against each other, by PyTorch. Imported where they are trained alone: it needs the extra.

Source: Xie et al. 2018 (DP-GAN); a condition, and columns of categories by Gumbel-softmax, as in Xu et al. 2019.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import torch
from opacus.accountants.analysis import rdp
from torch import Tensor, nn
from torch.nn import functional

from mechanisms.arrays import Floats, Integers
from mechanisms.microdata.adversarial import critic
from mechanisms.microdata.adversarial.generator import CHANCE, HIDDEN, LEAK, RowMaker

# Steps of the critic during which the generator waits: it would follow one that knows nothing.
ALONE = 10
GENERATOR_STEPS, BATCH = 2, 4096
CRITIC_RATE, GENERATOR_RATE = 1e-2, 1e-3
TEMPERATURE = 0.5
# Of the critic's first weights.
SPREAD, ANSWER_SPREAD = 0.5, 0.1
# The generator's weights that are kept are a mean over its last steps.
AVERAGED = 0.98
ORDERS = (1.5, 2.0, 8.0, 64.0, 1024.0)

# From the critic's weights to the noisy sum of people's gradients.
Noisy = Callable[[Integers, Integers], Integers]


def check_account(rho: float, steps: int) -> None:
    """Raises RuntimeError unless Opacus finds all steps together to cost ρ, as the ledger does.

    A full-batch step of deviation σC is a Gaussian mechanism, α/(2σ²) in Rényi DP of order α; nothing is subsampled.
    """
    result = rdp.compute_rdp(q=1.0, noise_multiplier=math.sqrt(steps / (2 * rho)), steps=steps, orders=ORDERS)
    if not np.allclose(result, rho * np.array(ORDERS), rtol=1e-9):
        raise RuntimeError("Opacus accounts for the steps otherwise than the ledger")


class Critic:
    """Two layers, whose weights people's noisy gradients and made rows move."""

    def __init__(self, cells: int, random: np.random.Generator) -> None:
        self.weights = _parameter(random.normal(0, SPREAD, (cells, critic.HIDDEN)))
        self.answers = _parameter(random.normal(0, ANSWER_SPREAD, critic.HIDDEN))
        self.optimiser = torch.optim.Adam([self.weights, self.answers], lr=CRITIC_RATE, betas=(0.5, 0.9))

    def __call__(self, rows: Tensor) -> Tensor:
        hidden = functional.leaky_relu(rows @ self.weights, 0.5**critic.LEAK_BITS)
        return hidden @ self.answers

    def step(self, noisy: Noisy, total: float, synthetic: Tensor) -> None:
        """The mean noisy gradient of people, and that of the made rows."""
        result = noisy(*(critic.to_integers(w.detach().numpy()) for w in (self.weights, self.answers)))
        of_people = torch.from_numpy(result / (total * 2.0**critic.GRADIENT_BITS)).float()
        self.optimiser.zero_grad()
        functional.softplus(self(synthetic)).mean().backward()
        cut = self.weights.numel()
        for weight, part in ((self.weights, of_people[:cut]), (self.answers, of_people[cut:])):
            assert weight.grad is not None
            weight.grad += part.reshape(weight.shape)
        self.optimiser.step()


class Network:
    """The generator while it learns; it begins with independent columns."""

    def __init__(
        self, sizes: Sequence[int], shares: Sequence[Floats], condition: int, random: np.random.Generator
    ) -> None:
        self.sizes, self.condition, self.chance = tuple(sizes), condition, random
        entered, everything = CHANCE + sizes[condition], sum(sizes)
        self.weights = [
            _parameter(random.normal(0, entered**-0.5, (HIDDEN, entered))),
            _parameter(np.zeros(HIDDEN)),
            _parameter(random.normal(0, HIDDEN**-0.5, (HIDDEN, HIDDEN))),
            _parameter(np.zeros(HIDDEN)),
            _parameter(random.normal(0, 0.1 * HIDDEN**-0.5, (everything, HIDDEN))),
            _parameter(np.log(np.concatenate(shares) + 1e-6)),
        ]
        self.averages = [w.detach().clone() for w in self.weights]
        self.optimiser = torch.optim.Adam(self.weights, lr=GENERATOR_RATE, betas=(0.5, 0.9))

    def soft(self, groups: Integers) -> Tensor:
        """Rows as the critic sees them: nearly 0 or 1 in each group, through which gradients pass."""
        given = functional.one_hot(torch.from_numpy(groups), self.sizes[self.condition]).float()
        chance = torch.from_numpy(self.chance.standard_normal((groups.size, CHANCE))).float()
        first, first_offset, second, second_offset, last, last_offset = self.weights
        hidden = functional.leaky_relu(torch.cat([chance, given], dim=1) @ first.T + first_offset, LEAK)
        hidden = functional.leaky_relu(hidden @ second.T + second_offset, LEAK)
        logits = hidden @ last.T + last_offset
        gumbel = torch.from_numpy(self.chance.gumbel(size=logits.shape)).float()
        columns = list(((logits + gumbel) / TEMPERATURE).split(self.sizes, dim=1))
        columns = [
            given if j == self.condition else column.softmax(dim=1) for j, column in enumerate(columns)
        ]
        return torch.cat(columns, dim=1)

    def step(self, judge: Critic, groups: Integers) -> None:
        """Towards rows that the critic takes for people's."""
        self.optimiser.zero_grad()
        functional.softplus(-judge(self.soft(groups))).mean().backward()
        self.optimiser.step()
        for averages, weight in zip(self.averages, self.weights, strict=True):
            averages.mul_(AVERAGED).add_(weight.detach(), alpha=1 - AVERAGED)

    def generator(self) -> RowMaker:
        return RowMaker(tuple(w.double().numpy() for w in self.averages), self.sizes, self.condition)


def _parameter(values: np.ndarray) -> nn.Parameter:
    return nn.Parameter(torch.from_numpy(values).float())


def trained(
    shares: Sequence[Floats],
    condition: int,
    total: float,
    steps: int,
    noisy: Noisy,
    random: np.random.Generator,
) -> RowMaker:
    """A generator of rows of groups, from so many noisy sums of people's gradients and from noisy shares of columns.

    All else is public: `random` and the order of steps, which depend on no one.
    """
    torch.set_num_threads(1)
    sizes = [own.size for own in shares]
    judge, network = Critic(sum(sizes), random), Network(sizes, shares, condition, random)

    def some() -> Integers:
        return random.choice(sizes[condition], BATCH, p=shares[condition] / shares[condition].sum())

    for step in range(steps):
        with torch.no_grad():
            synthetic = network.soft(some())
        judge.step(noisy, total, synthetic)
        for _ in range(GENERATOR_STEPS if step >= ALONE else 0):
            network.step(judge, some())
    return network.generator()
