"""What the documentation of an estimator has to name."""

import inspect
import re
from typing import Any


def documents_everything(fitted: Any) -> None:
    """Raise unless each parameter and each attribute of a fit stands in the docstring."""
    entries = re.findall(r"^([\w, ]+) : ", inspect.getdoc(type(fitted)), flags=re.MULTILINE)
    documented = set(", ".join(entries).split(", "))
    own = {name for name in vars(fitted) if name.endswith("_")}
    assert documented >= fitted.get_params().keys() | own | {"feature_names_in_"}
