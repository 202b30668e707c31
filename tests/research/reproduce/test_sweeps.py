"""Sweeps over a wrong sigma."""

import numpy as np
import pytest

from inlier.research.datasets import SettingB
from inlier.research.reproduce import chapter, sweeps
from inlier.research.reproduce.chapter import Setup
from inlier.research.reproduce.methods import COLUMNS


@pytest.mark.parametrize("factor", [0.5, 1.0, 3.0])
def test_a_wrong_sigma_is_told(factor):
    model = SettingB(50, 4, 0.2)
    wrong = sweeps.Misjudged(model, factor)
    drawn, truth = wrong.sample(3), model.sample(3)
    assert drawn.sigma == factor * truth.sigma
    for name in ("X", "is_outlier", "mean", "alpha"):
        np.testing.assert_array_equal(getattr(drawn, name), getattr(truth, name))
    assert (wrong.n, wrong.d, wrong.alpha, wrong.name) == (50, 4, 0.2, "SettingB")
    # A store tells models apart by their repr.
    assert repr(wrong) != repr(sweeps.Misjudged(model, factor + 1.0))


def test_a_wrong_sigma_reaches_the_method(tmp_path, monkeypatch):
    monkeypatch.setattr(chapter, "TIMEOUT", None)
    setup = Setup(1, True, 1, tmp_path / "fits.sqlite", lambda *_: None)
    models = [sweeps.Misjudged(SettingB(50, 4, 0.2), factor) for factor in (0.4, 1.0)]
    for model, found in zip(models, setup.compare("a", models, ("paper-lp",), 1), strict=True):
        sample = model.model.sample(0)
        estimator = COLUMNS["paper-lp"].method.make(sigma=model.factor * sample.sigma)
        np.testing.assert_array_equal(found.records[0].location, estimator.fit(sample.X).location_)
