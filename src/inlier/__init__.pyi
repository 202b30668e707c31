from . import datasets, federated, l0, research, theory
from .api import robust_mean
from .data import open_table
from .estimators import (
    RobustCenterer,
    RobustCovariance,
    RobustMean,
    RobustMeanSampler,
    RobustPCA,
)
from .results.certificate import Certificate
from .results.explanation import Explanation
from .results.result import RobustMeanResult
from .verdict import Group, WeakEvidenceWarning

__version__: str

__all__ = [
    "Certificate",
    "Explanation",
    "Group",
    "RobustCenterer",
    "RobustCovariance",
    "RobustMean",
    "RobustMeanResult",
    "RobustMeanSampler",
    "RobustPCA",
    "WeakEvidenceWarning",
    "datasets",
    "federated",
    "l0",
    "open_table",
    "research",
    "robust_mean",
    "theory",
]
