"""Mechanisms by name."""

from __future__ import annotations

from typing import ClassVar, Protocol, TypeVar

from mechanisms.continual.buffered_stream import BufferedToeplitzStream
from mechanisms.continual.epochs import EpochStream, HybridStream
from mechanisms.continual.fda import FactorisationDiagonal
from mechanisms.continual.fenwick_slsqp import SolvedFenwick
from mechanisms.continual.gaussian_optimum import GaussianOptimumStream
from mechanisms.continual.hierarchy import HierarchicalStream
from mechanisms.continual.mechanism import StreamMechanism
from mechanisms.continual.naive import NaiveIncrements, NaiveRepublication
from mechanisms.continual.optimal_split import OptimalSplit
from mechanisms.continual.toeplitz import RootToeplitzStream
from mechanisms.continual.tree import BinaryTree, RefinedTree
from mechanisms.continual.window_stream import WindowStream
from mechanisms.histogram.binned import BinnedHistogram
from mechanisms.histogram.bisection import BisectedHistogram
from mechanisms.histogram.clustering import ClusteredHistogram
from mechanisms.histogram.dawa import DawaHistogram
from mechanisms.histogram.grid import AdaptiveGrid, UniformGrid
from mechanisms.histogram.hierarchical import HierarchicalHistogram
from mechanisms.histogram.noisy import GaussianHistogram, LaplaceHistogram
from mechanisms.histogram.private_selection import ChosenHistogram
from mechanisms.histogram.privelet import PriveletHistogram
from mechanisms.histogram.privtree import PrivTree
from mechanisms.histogram.quadtree import Quadtree
from mechanisms.matrix.all_cells import AllCellsPIdentityStrategy
from mechanisms.matrix.fixed_strategies import (
    CellsStrategy,
    HaarStrategy,
    HierarchyStrategy,
    UploadedStrategy,
    WorkloadStrategy,
)
from mechanisms.matrix.joint_strategies import LowRankStrategy, SplitUnionStrategy
from mechanisms.matrix.marginals.laplace import WeightedMarginals
from mechanisms.matrix.marginals.residual import ResidualPlanner
from mechanisms.matrix.mechanism import QueryMechanism
from mechanisms.matrix.optimised import GaussianOptimumStrategy, PIdentityStrategy
from mechanisms.microdata.adversarial.method import Adversarial
from mechanisms.microdata.clusters import Clusters
from mechanisms.microdata.independent_columns import IndependentColumns
from mechanisms.microdata.latent_classes import LatentClasses
from mechanisms.microdata.mechanism import Microdata
from mechanisms.microdata.principal_components import PrincipalComponents
from mechanisms.microdata.private_partition import PrivatePartition
from mechanisms.microdata.tree_of_pairs import TreeOfPairs
from mechanisms.moments.mechanism import BernsteinSums
from mechanisms.protocol import Mechanism
from mechanisms.response import RandomisedResponse, Response, UnaryEncoding
from mechanisms.selection import ExponentialMechanism, PermuteAndFlip, ReportNoisyMax, Selection
from mechanisms.summary.mechanism import ColumnTables

HISTOGRAMS: tuple[Mechanism, ...] = (
    LaplaceHistogram(),
    GaussianHistogram(),
    HierarchicalHistogram(),
    PriveletHistogram(),
    DawaHistogram(),
    BinnedHistogram(),
    BisectedHistogram(),
    UniformGrid(),
    AdaptiveGrid(),
    Quadtree(),
    PrivTree(),
    ClusteredHistogram(),
    ChosenHistogram(),
)
# The default comes first.
SELECTIONS: tuple[Selection, ...] = (PermuteAndFlip(), ExponentialMechanism(), ReportNoisyMax())
MOMENTS: tuple[BernsteinSums, ...] = (BernsteinSums(),)
SUMMARIES: tuple[ColumnTables, ...] = (ColumnTables(),)
RESPONSES: tuple[Response, ...] = (RandomisedResponse(), UnaryEncoding())
QUERIES: tuple[QueryMechanism, ...] = (
    CellsStrategy(),
    WorkloadStrategy(),
    HierarchyStrategy(),
    HaarStrategy(),
    PIdentityStrategy(),
    GaussianOptimumStrategy(),
    SplitUnionStrategy(),
    AllCellsPIdentityStrategy(),
    LowRankStrategy(),
    ResidualPlanner(),
    WeightedMarginals(),
    UploadedStrategy(),
)
# The most accurate comes first, the baseline last.
MICRODATA: tuple[Microdata, ...] = (
    LatentClasses(),
    Clusters(),
    TreeOfPairs(),
    PrincipalComponents(),
    PrivatePartition(),
    Adversarial(),
    IndependentColumns(),
)

# Those that serve only to compare with come last.
STREAMS: tuple[StreamMechanism, ...] = (
    WindowStream(),
    GaussianOptimumStream(),
    RootToeplitzStream(),
    BufferedToeplitzStream(),
    HierarchicalStream(),
    OptimalSplit(),
    FactorisationDiagonal(),
    NaiveIncrements(),
    RefinedTree(),
    BinaryTree(),
    EpochStream(),
    HybridStream(),
    SolvedFenwick(),
    NaiveRepublication(),
)


class _Named(Protocol):
    name: ClassVar[str]
    title: ClassVar[str]


M = TypeVar("M", bound=_Named)


def _named(kind: str, name: str, family: tuple[M, ...]) -> M:
    by_name = {m.name: m for m in family}
    if name not in by_name:
        raise KeyError(f"no {kind} {name!r}; there are {', '.join(sorted(by_name))}")
    return by_name[name]


def mechanism(name: str) -> Mechanism:
    """The mechanism of that name. Raises KeyError with the names that exist."""
    return _named("mechanism", name, HISTOGRAMS)


def selection(name: str) -> Selection:
    """The selection mechanism of that name. Raises KeyError with the names that exist."""
    return _named("selection", name, SELECTIONS)


def response(name: str) -> Response:
    """The way of randomised response of that name. Raises KeyError with the names that exist."""
    return _named("response", name, RESPONSES)


def moments(name: str) -> BernsteinSums:
    """The way to totals and means of that name. Raises KeyError with the names that exist."""
    return _named("way to totals and means", name, MOMENTS)


def summary(name: str) -> ColumnTables:
    """The way to a summary of all columns of that name. Raises KeyError with the names that exist."""
    return _named("way to a summary", name, SUMMARIES)


def stream(name: str) -> StreamMechanism:
    """The mechanism for running counts of that name. Raises KeyError with the names that exist."""
    return _named("stream", name, STREAMS)


def query_mechanism(name: str) -> QueryMechanism:
    """The mechanism for a workload of queries of that name. Raises KeyError with the names that exist."""
    return _named("query mechanism", name, QUERIES)


def microdata(name: str) -> Microdata:
    """The way to make synthetic microdata of that name. Raises KeyError with the names that exist."""
    return _named("way to make microdata", name, MICRODATA)


def title(name: str) -> str:
    """What the method of that name is called, of whatever kind; empty if there is none."""
    families: tuple[tuple[_Named, ...], ...] = (
        HISTOGRAMS,
        SELECTIONS,
        MOMENTS,
        SUMMARIES,
        RESPONSES,
        QUERIES,
        MICRODATA,
        STREAMS,
    )
    return next((m.title for family in families for m in family if m.name == name), "")
