"""Published methods behind one interface.

Each is a scikit-learn estimator that reads the data through the passes of `inlier.data` and keeps
a `MeanResult`. `inlier.research.methods()` lists them with the parameters they need. Docstrings
count the passes of the method itself; the starting center and the test for distant rows add one or
two.
"""

from inlier.research.baselines.base import Baseline
from inlier.research.baselines.determinants import (
    MinimumCovarianceDeterminant,
    MinimumRegularizedCovarianceDeterminant,
)
from inlier.research.baselines.few_rows import CenteredClipping, Krum, MultiKrum
from inlier.research.baselines.filters import (
    CorruptionLevelAgnostic,
    FalseDiscoveryFilter,
    IterativeFiltering,
    OutlierFractionAgnostic,
    QuantumEntropy,
    RandEigen,
    SpectralSignatures,
)
from inlier.research.baselines.lai_rao_vempala import LaiRaoVempala, LaiRaoVempalaGaussian
from inlier.research.baselines.reweighting import (
    ChengDiakonikolasGe,
    ProjectedGradient,
    SpectralReweighting,
)
from inlier.research.baselines.simple import (
    CoordinateMedian,
    GeometricMedian,
    LeeValiant,
    MedianOfMeans,
    NormTrimmedMean,
    SampleMean,
    TrimmedMean,
)

# From simple to elaborate; spectral methods before those for few rows.
BASELINES: tuple[type[Baseline], ...] = (
    SampleMean, CoordinateMedian, GeometricMedian, TrimmedMean, NormTrimmedMean, MedianOfMeans,
    LeeValiant, IterativeFiltering, QuantumEntropy, LaiRaoVempala, LaiRaoVempalaGaussian,
    ChengDiakonikolasGe, OutlierFractionAgnostic, CorruptionLevelAgnostic, ProjectedGradient,
    SpectralReweighting, FalseDiscoveryFilter, RandEigen, SpectralSignatures,
    MinimumCovarianceDeterminant, MinimumRegularizedCovarianceDeterminant, Krum, MultiKrum,
    CenteredClipping,
)  # fmt: skip

__all__ = ["Baseline", *(method.__name__ for method in BASELINES)]
