"""Published methods behind one interface, one file each.

Each is a scikit-learn estimator that reads the data through the passes of `inlier.data` and keeps
a `MeanResult`. `inlier.research.methods()` lists them with the parameters they need. Docstrings
count the passes of the method itself; the starting center and the test for distant rows add one or
two.
"""

from inlier.research.baselines.base import Baseline
from inlier.research.baselines.bulyan import Bulyan
from inlier.research.baselines.centered_clipping import CenteredClipping
from inlier.research.baselines.cheng_diakonikolas_ge import ChengDiakonikolasGe
from inlier.research.baselines.coordinate_median import CoordinateMedian
from inlier.research.baselines.false_discovery_filter import FalseDiscoveryFilter
from inlier.research.baselines.geometric_median import GeometricMedian
from inlier.research.baselines.iterative_filtering import IterativeFiltering
from inlier.research.baselines.krum import Krum, MultiKrum
from inlier.research.baselines.lai_rao_vempala import LaiRaoVempala, LaiRaoVempalaGaussian
from inlier.research.baselines.mda import MDA
from inlier.research.baselines.mean import SampleMean
from inlier.research.baselines.median_of_means import MedianOfMeans
from inlier.research.baselines.min_cov_det import MinimumCovarianceDeterminant
from inlier.research.baselines.outlier_fraction_agnostic import (
    CorruptionLevelAgnostic,
    OutlierFractionAgnostic,
)
from inlier.research.baselines.projected_gradient import ProjectedGradient
from inlier.research.baselines.quantum_entropy import QuantumEntropy
from inlier.research.baselines.spectral_reweighting import SpectralReweighting
from inlier.research.baselines.trimmed_mean import NormTrimmedMean, TrimmedMean
from inlier.research.baselines.tukey_median import TukeyMedian

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
