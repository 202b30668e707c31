"""scikit-learn's own checks of an estimator, and what its documentation has to name."""

import inspect
import re
import warnings
from typing import Any

from sklearn.utils.estimator_checks import check_estimator

import inlier


def passes_all_checks(estimator: Any) -> None:
    """Raise unless it does; one check is skipped unless SCIPY_ARRAY_API was set."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", inlier.WeakEvidenceWarning)
        done = check_estimator(estimator, on_skip=None)
    skipped = {one["check_name"] for one in done if one["status"] != "passed"}
    assert skipped <= {"check_array_api_input"}


def documents_everything(fitted: Any) -> None:
    """Raise unless each parameter and each attribute of a fit stands in the docstring."""
    entries = re.findall(r"^([\w, ]+) : ", inspect.getdoc(type(fitted)), flags=re.MULTILINE)
    documented = set(", ".join(entries).split(", "))
    own = {name for name in vars(fitted) if name.endswith("_")}
    assert documented >= fitted.get_params().keys() | own | {"feature_names_in_"}
