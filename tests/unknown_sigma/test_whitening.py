"""Groups in quiet directions are seen in the metric of the rows."""

import numpy as np
import pytest

from symmetric_fits import FEW, MANY, error, fitted, over_seeds, quiet


@pytest.mark.parametrize("alpha", [0.1, 0.2, 0.3])
@pytest.mark.parametrize("kind", ["spiked", "rotated"])
def test_outliers_in_quiet_directions(kind, alpha):
    errors, _ = over_seeds(quiet(kind, alpha).sample, FEW)
    assert errors.max() <= 0.15
    # They would not be seen without the metric.
    sample = quiet(kind, alpha).sample(0)
    assert error(fitted(sample.X, scatter="identity"), sample) > 3.0 * errors.max()


def test_groups_in_quiet_directions_get_a_last_look():
    # Where one group is looked at while the other is still there, some 30 rows are wrong.
    _, wrong = over_seeds(quiet("spiked", 0.3).sample, range(4))
    assert wrong.max() <= 12


# With half as many rows, a tenth of them bad is close to what chance finds in a window.
QUIET = [(2000, 100, 0.95), (1000, 50, 0.85)]


@pytest.mark.slow
@pytest.mark.parametrize("alpha", [0.1, 0.2, 0.3])
@pytest.mark.parametrize(("n", "d", "often"), QUIET)
@pytest.mark.parametrize("kind", ["spiked", "rotated"])
def test_outliers_in_quiet_directions_in_nearly_every_draw(kind, n, d, often, alpha):
    errors, _ = over_seeds(quiet(kind, alpha, n, d).sample, MANY)
    assert np.mean(errors <= 0.15) >= often
