"""Published methods behind one interface, one file each.

Each is a scikit-learn estimator that reads the data through the passes of `inlier.data` and keeps
a `MeanResult`. `inlier.methods()` lists them with the parameters they need. Docstrings count the
passes of the method itself; the starting center and the test for distant rows add one or two.
"""

from inlier.baselines.base import Baseline
from inlier.baselines.bulyan import Bulyan
from inlier.baselines.centered_clipping import CenteredClipping
from inlier.baselines.cheng_diakonikolas_ge import ChengDiakonikolasGe
from inlier.baselines.coordinate_median import CoordinateMedian
from inlier.baselines.false_discovery_filter import FalseDiscoveryFilter
from inlier.baselines.geometric_median import GeometricMedian
from inlier.baselines.iterative_filtering import IterativeFiltering
from inlier.baselines.krum import Krum, MultiKrum
from inlier.baselines.lai_rao_vempala import LaiRaoVempala, LaiRaoVempalaGaussian
from inlier.baselines.mda import MDA
from inlier.baselines.mean import SampleMean
from inlier.baselines.median_of_means import MedianOfMeans
from inlier.baselines.min_cov_det import MinimumCovarianceDeterminant
from inlier.baselines.outlier_fraction_agnostic import (
    CorruptionLevelAgnostic,
    OutlierFractionAgnostic,
)
from inlier.baselines.projected_gradient import ProjectedGradient
from inlier.baselines.quantum_entropy import QuantumEntropy
from inlier.baselines.spectral_reweighting import SpectralReweighting
from inlier.baselines.trimmed_mean import NormTrimmedMean, TrimmedMean
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
