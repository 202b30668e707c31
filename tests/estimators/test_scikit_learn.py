"""scikit-learn's own checks of every estimator."""

import os
import subprocess
import sys

import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.utils.estimator_checks import check_estimator

from fits import quietly
from inlier import (
    RobustCenterer,
    RobustCovariance,
    RobustFit,
    RobustMean,
    RobustMeanSampler,
    RobustPCA,
)
from inlier.l0 import Options
from inlier.research.baselines import BASELINES
from rivals import told

slow = pytest.mark.slow
KINDS = ("dense", "sparse")
WEIGHTS = dict.fromkeys(
    (f"check_sample_weight_equivalence_on_{kind}_data" for kind in KINDS),
    "a weight is what a row counts in the mean, not how often it was seen",
)
# The data are scikit-learn's: blobs of unit variance, and some rows have to be called outliers.
WHY = "for this sigma more rows have to go than a contamination of 0.1 allows; without it, three "
WHY += "classes of the same size have no bad row"
VERDICTS = dict.fromkeys(("check_outliers_train", "check_outliers_fit_predict"), WHY)
OF_THE_MEAN = WEIGHTS | VERDICTS

# With what scikit-learn asks for and the estimator does not do.
ESTIMATORS = [
    (RobustMean(), OF_THE_MEAN),
    (RobustMean(sigma=1.0, l0=Options(algorithm="paper")), OF_THE_MEAN),
    (
        RobustMean(sigma=1.0, l0=Options(algorithm="paper", surrogate="reweighted-l1")),
        OF_THE_MEAN,
    ),
    (RobustCenterer(sigma=2.0), {}),
    (RobustCenterer(with_scaling=True, sigma=2.0), {}),
    pytest.param(RobustCenterer(), {}, marks=slow),
    (RobustCovariance(), {}),
    (RobustPCA(), {}),
    (RobustMeanSampler(sigma=2.0), {}),
    pytest.param(RobustMeanSampler(), {}, marks=slow),
    (RobustFit(Ridge()), {}),
    (RobustFit(LogisticRegression()), {}),
    # scikit-learn's tables have features up to a hundred apart, and all rows are good there.
    *(pytest.param(told(method, sigma=1e3), {}, marks=slow) for method in BASELINES),
]


@pytest.mark.parametrize(("estimator", "failures"), ESTIMATORS)
def test_scikit_learn_checks(estimator, failures):
    """One check is skipped unless SCIPY_ARRAY_API was set before scipy is imported."""
    done = quietly(check_estimator, estimator, on_skip=None, expected_failed_checks=failures)
    by_status = {}
    for check in done:
        by_status.setdefault(check["status"], set()).add(check["check_name"])
    assert by_status.get("xfail", set()) == set(failures)
    assert by_status.get("skipped", set()) <= {"check_array_api_input"}


def test_scikit_learn_checks_with_sigma_and_without_a_skip():
    code = (
        "import warnings\n"
        "from sklearn.exceptions import SkipTestWarning\n"
        "from sklearn.utils.estimator_checks import check_estimator\n"
        "from inlier import RobustMean\n"
        "warnings.simplefilter('error', SkipTestWarning)\n"
        f"check_estimator(RobustMean(sigma=1.0), expected_failed_checks={OF_THE_MEAN!r})\n"
    )
    environment = os.environ | {"SCIPY_ARRAY_API": "1"}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
