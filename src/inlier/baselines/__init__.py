"""Published methods behind one interface.

Each is a scikit-learn estimator that reads the data through the passes of `inlier.data` and keeps
a `MeanResult`. `inlier.methods()` lists them with the parameters they need. Docstrings count the
passes of the method itself; the starting centre and the test for distant rows add one or two.
"""

from inlier.baselines.base import Baseline
from inlier.baselines.capped_simplex import ProjectedGradient, SpectralReweighting
from inlier.baselines.centered_clipping import CenteredClipping
from inlier.baselines.cheng_diakonikolas_ge import ChengDiakonikolasGe
from inlier.baselines.classical import (
    CoordinateMedian,
    GeometricMedian,
    MedianOfMeans,
    NormTrimmedMean,
    SampleMean,
    TrimmedMean,
)
from inlier.baselines.filters import (
    CorruptionLevelAgnostic,
    FalseDiscoveryFilter,
    IterativeFiltering,
    OutlierFractionAgnostic,
    QuantumEntropy,
)
from inlier.baselines.lai_rao_vempala import LaiRaoVempala, LaiRaoVempalaGaussian
from inlier.baselines.min_cov_det import MinimumCovarianceDeterminant
from inlier.baselines.pairwise import MDA, Bulyan, Krum, MultiKrum
from inlier.baselines.tukey_median import TukeyMedian

# From simple to elaborate; spectral methods before those for few rows.
BASELINES: tuple[type[Baseline], ...] = (
    SampleMean, CoordinateMedian, GeometricMedian, TukeyMedian, TrimmedMean, NormTrimmedMean,
    MedianOfMeans, IterativeFiltering, QuantumEntropy, LaiRaoVempala, LaiRaoVempalaGaussian,
    ChengDiakonikolasGe, OutlierFractionAgnostic, CorruptionLevelAgnostic, ProjectedGradient,
    SpectralReweighting, FalseDiscoveryFilter, MinimumCovarianceDeterminant, Krum, MultiKrum,
    Bulyan, CenteredClipping, MDA,
)  # fmt: skip

__all__ = [
    "BASELINES", "MDA", "Baseline", "Bulyan", "CenteredClipping", "ChengDiakonikolasGe",
    "CoordinateMedian", "CorruptionLevelAgnostic", "FalseDiscoveryFilter", "GeometricMedian",
    "IterativeFiltering", "Krum", "LaiRaoVempala", "LaiRaoVempalaGaussian", "MedianOfMeans",
    "MinimumCovarianceDeterminant", "MultiKrum", "NormTrimmedMean", "OutlierFractionAgnostic",
    "ProjectedGradient", "QuantumEntropy", "SampleMean", "SpectralReweighting", "TrimmedMean",
    "TukeyMedian",
]  # fmt: skip
