"""The only place where randomness enters: exact discrete noise from the operating system's CSPRNG."""

from mechanisms.noise.laws import DiscreteGaussian, DiscreteLaplace, NoiseLaw, law_from_json
from mechanisms.noise.repeatable import repeatable
from mechanisms.noise.sampler import WIDEST, Noise

__all__ = [
    "WIDEST",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "Noise",
    "NoiseLaw",
    "law_from_json",
    "repeatable",
]
