"""A table of patients."""

import numpy as np
import pandas as pd
import pytest


@pytest.fixture(scope="module")
def patients(tmp_path_factory):
    """A table with names, a group column, a date, and 40 bad rows at the top."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 5)) * [1.0, 2.0, 3.0, 1.0, 1.0] + 10.0
    X[:40] += np.array([30.0, 0.0, -30.0, 20.0, 0.0])
    frame = pd.DataFrame(X, columns=["age", "height", "<script>", "w$x", "[b]x[/b]"])
    frame.insert(0, "name", [f"p{i:03d}" for i in range(400)])
    frame["seen"] = "2020-01-01"
    frame["site"] = np.where(np.arange(400) % 2, "north", "south")
    path = tmp_path_factory.mktemp("patients") / "patients.csv"
    frame.to_csv(path, index=False)
    return path
