from . import datasets, federated, fits, l0, research, theory
from .api import robust_mean
from .data import open_table
from .estimators import (
    RobustCenterer,
    RobustCovariance,
    RobustMean,
    RobustMeanSampler,
    RobustPCA,
)
from .fits import RobustFit
from .results.certificate import Certificate
from .results.explanation import Explanation
from .results.grouped import GroupedResult
from .results.result import RobustMeanResult
from .verdict import Group, WeakEvidenceWarning

__version__: str

__all__ = [
    "Certificate",
    "Explanation",
    "Group",
    "GroupedResult",
    "RobustCenterer",
    "RobustCovariance",
    "RobustFit",
    "RobustMean",
    "RobustMeanResult",
    "RobustMeanSampler",
    "RobustPCA",
    "WeakEvidenceWarning",
    "datasets",
    "federated",
    "fits",
    "l0",
    "open_table",
    "research",
    "robust_mean",
    "theory",
]
