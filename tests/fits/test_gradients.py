"""Gradients against finite differences and torch's, of dense and sparse rows."""

import numpy as np
import pytest
from scipy import sparse
from sklearn import linear_model, svm
from sklearn.decomposition import PCA
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

from cases import cases
from inlier.fits import torch_gradients
from inlier.fits.filtering import along_largest
from inlier.fits.gradients import Gradients, linear_predictions, loss_of, targets
from inlier.fits.judging import false_discoveries, judged_labels, size_p_values

RNG = np.random.default_rng(0)
X = RNG.standard_normal((80, 4))
LINE = X @ [1.0, -1.0, 0.5, 0.0] + 0.5 * RNG.standard_normal(80)
COUNTS = RNG.poisson(np.exp(0.3 * LINE)).astype(float)
TWO, THREE = (LINE > 0).astype(int), np.digitize(LINE, [-0.5, 0.5])

MODELS = [
    (linear_model.LinearRegression(), LINE),
    (linear_model.LinearRegression(), np.column_stack([LINE, X[:, 0] + 0.1 * LINE])),
    (linear_model.Ridge(fit_intercept=False), LINE),
    (linear_model.Lasso(0.01), LINE),
    (linear_model.ElasticNet(0.01), LINE),
    (linear_model.HuberRegressor(), LINE),
    (linear_model.QuantileRegressor(quantile=0.3, alpha=0.0), LINE),
    (linear_model.SGDRegressor(random_state=0), LINE),
    (linear_model.SGDRegressor("huber", random_state=0), LINE),
    (linear_model.SGDRegressor("epsilon_insensitive", random_state=0), LINE),
    (svm.LinearSVR(random_state=0), LINE),
    (svm.LinearSVR(loss="squared_epsilon_insensitive", epsilon=0.2, random_state=0), LINE),
    (linear_model.PoissonRegressor(), COUNTS),
    (linear_model.GammaRegressor(), COUNTS + 1.0),
    (linear_model.TweedieRegressor(power=1.5), COUNTS),
    (linear_model.LogisticRegression(), TWO),
    (linear_model.LogisticRegression(), THREE),
    (linear_model.RidgeClassifier(), THREE),
    (svm.LinearSVC(loss="hinge", random_state=0), TWO),
    (svm.LinearSVC(random_state=0), THREE),
    (linear_model.SGDClassifier("hinge", random_state=0), THREE),
    (linear_model.SGDClassifier("log_loss", random_state=0), TWO),
    (linear_model.SGDClassifier("modified_huber", random_state=0), THREE),
    (linear_model.Perceptron(random_state=0), TWO),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@cases(("model", "y"), MODELS)
def test_gradients_are_finite_differences(model, y):
    model = model.fit(X, y)
    found = Gradients.of(model, X, y)
    table, loss, step = found.table(), loss_of(model), 1e-6
    truth, f = targets(model, y), linear_predictions(model, X)
    q, rows = f.shape[1], np.column_stack([X, np.ones(80)]) if found.intercept else X
    assert table.shape == (80, q * rows.shape[1])
    numeric = np.empty_like(table)
    for j in range(q):
        for k in range(rows.shape[1]):
            moved = np.zeros_like(f)
            moved[:, j] = step * rows[:, k]
            above, below = loss.value(f + moved, truth), loss.value(f - moved, truth)
            numeric[:, j * rows.shape[1] + k] = (above - below) / (2 * step)
    # A kink of the loss may lie between the two points.
    smooth = np.abs(table - numeric).max(axis=1) < 1e-4 * (1.0 + np.abs(table).max(axis=1))
    assert smooth.mean() > 0.9
    in_sparse = Gradients.of(model, sparse.csr_matrix(X), y).table()
    assert sparse.issparse(in_sparse)
    np.testing.assert_allclose(in_sparse.toarray(), table, atol=1e-12)


@cases("fitted", [linear_model.LinearRegression, lambda: linear_model.LogisticRegression(C=np.inf)])
def test_gradients_of_an_unpenalised_fit_add_up_to_nothing(fitted):
    model = fitted()
    y = (
        LINE
        if isinstance(model, linear_model.LinearRegression)
        else (LINE[::-1] < LINE).astype(int)
    )
    total = Gradients.of(model.fit(X, y), X, y).table().sum(axis=0)
    np.testing.assert_allclose(total, 0.0, atol=0.02)


@cases(
    ("model", "y"),
    [
        (svm.LinearSVC(loss="hinge", C=0.1, random_state=0, tol=1e-6, max_iter=10**6), TWO),
        (svm.LinearSVR(epsilon=0.5, C=0.1, random_state=0, tol=1e-6, max_iter=10**6), LINE),
    ],
)
def test_rows_that_hold_a_fit_at_the_kink_of_its_loss_have_a_gradient(model, y):
    """A row far out in X ends on the kink, where rounding would decide its gradient."""
    for size in (1.0, -1.0):
        rows, target = X.copy(), np.where(y > 0.0, 1, 0) if y is TWO else y.copy()
        rows[0] = 30.0 * size * np.array([1.0, -1.0, 0.5, 0.0])
        target[0] = size < 0.0 if y is TWO else -3.0 * size
        found = Gradients.of(model.fit(rows, target), rows, target)
        assert abs(found.derivatives[0, 0]) == 1.0


def test_gradients_are_those_of_the_last_step():
    scaled = StandardScaler().fit_transform(3.0 * X + 1.0)
    pipeline = make_pipeline(StandardScaler(), linear_model.Ridge()).fit(3.0 * X + 1.0, LINE)
    alone = linear_model.Ridge().fit(scaled, LINE)
    expected = Gradients.of(alone, scaled, LINE).table()
    np.testing.assert_allclose(Gradients.of(pipeline, 3.0 * X + 1.0, LINE).table(), expected)
    search = GridSearchCV(pipeline, {"ridge__alpha": [1.0]}, cv=3).fit(3.0 * X + 1.0, LINE)
    np.testing.assert_allclose(Gradients.of(search, 3.0 * X + 1.0, LINE).table(), expected)


@cases("model", [DecisionTreeRegressor(), svm.LinearSVC(multi_class="crammer_singer")])
def test_other_estimators_say_what_to_pass(model):
    with pytest.raises(TypeError, match=r"Pass gradients=, a function of the fitted estimator"):
        Gradients.of(model.fit(X, TWO), X, TWO)


def test_gradients_of_a_user():
    assert Gradients.given(sparse.eye(3), 3).table().shape == (3, 3)
    with pytest.raises(ValueError, match=r"one row for each of the 4 rows of X, but .* \(3, 2\)"):
        Gradients.given(np.ones((3, 2)), 4)
    with pytest.raises(ValueError, match="not finite"):
        Gradients.given(np.full((3, 2), np.nan), 3)


@cases("floored", [False, True])
@cases("y", [LINE, THREE])
@cases("kind", [np.asarray, sparse.csr_matrix])
def test_the_direction_of_largest_variance(floored, y, kind):
    model = linear_model.Ridge() if y is LINE else linear_model.LogisticRegression()
    found = Gradients.of(model.fit(X, y), kind(X), y)
    rows = np.arange(60)
    ours = along_largest(found, rows, np.random.default_rng(0), floored)
    W = found.derivatives[rows] / np.abs(found.derivatives[rows]).max()
    F = X[rows] - X[rows].mean(axis=0)
    if floored:
        unit = 1.4826 * np.median(np.abs(X[rows] - np.median(X[rows], axis=0)), axis=0)
        F = (X[rows] - np.median(X[rows], axis=0)) / unit
        size = np.linalg.norm(W, axis=1)
        W = W * (np.maximum(size, np.median(size)) / size)[:, None]
    F = np.column_stack([F, np.ones(60)])
    table = np.hstack([w[:, None] * F for w in W.T])
    table -= table.mean(axis=0)
    largest = np.linalg.svd(table, compute_uv=False)[0]
    assert np.linalg.norm(ours) > 0.98 * largest
    assert np.linalg.norm(ours) <= largest * (1.0 + 1e-9)


def test_p_values_of_sizes_are_those_of_a_normal_law_in_logarithms():
    sizes = np.exp(1.0 + 2.0 * np.random.default_rng(0).standard_normal(4000))
    for reference in (None, np.arange(4000) < 2000):
        found = size_p_values(sizes, 0.0, reference)
        for level in (0.01, 0.1, 0.5):
            assert np.mean(found <= level) == pytest.approx(level, rel=0.25)
    np.testing.assert_array_equal(size_p_values(np.zeros(9), 0.0, np.ones(9, bool)), 1.0)


def test_no_law_of_sizes_is_tighter_than_that_of_normal_noise():
    """Most rows fit up to rounding, a few are far out, and the others are alike."""
    rounding = 1e-12 * np.random.default_rng(0).random(400)
    for least in (0.0, 1e-6):
        found = size_p_values(np.r_[rounding, np.full(20, 1.0)], least, None)
        assert found[400:].max() < 1e-6 and found[:400].min() > 0.05
    equal = size_p_values(np.r_[np.full(400, 0.01), np.full(20, 1.0)], 0.0, None)
    assert equal[400:].max() < 0.001 and equal[:400].min() > 0.5


def test_p_values_of_labels_are_calibrated():
    rng = np.random.default_rng(0)
    scores = 3.0 * rng.standard_normal((6000, 3))
    chances = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    labels = (chances.cumsum(axis=1) < rng.random((6000, 1))).sum(axis=1)
    reference = np.arange(6000) < 5000
    chance, leave = judged_labels(7.0 * scores + 1.0, labels, None)
    assert (chance == 1.0).all() and not leave.any()
    flipped = rng.random(6000) < 0.1
    spoiled = np.where(flipped, (labels + 1) % 3, labels)
    good = np.where(reference, labels, spoiled)
    for given, known in ((good, reference), (spoiled, None)):
        found, leave = judged_labels(7.0 * scores + 1.0, given, known)
        own = chances[np.arange(6000), given][:, None]
        exact = np.where(chances <= own, chances, 0.0).sum(axis=1)
        assert np.mean(np.abs(found - exact)) < 0.02
        for level in (0.01, 0.05, 0.2):  # good rows never more often than they say
            assert np.mean(found[given == labels] <= level) < 1.2 * level
        assert np.mean(leave[given != labels]) > 0.4 > 0.03 > np.mean(leave[given == labels])
        # The others have the slope of good rows: those that leave balance those that stay.
        assert slope_of(scores[~leave], given[~leave]) == pytest.approx(1.0, abs=0.1)


def slope_of(scores, labels):
    model = linear_model.LogisticRegression(C=np.inf, max_iter=1000).fit(scores, labels)
    return float(np.linalg.norm(model.coef_ - model.coef_.mean(axis=0)) / np.sqrt(2.0))


def test_the_rate_of_false_discoveries():
    rng = np.random.default_rng(0)
    shares = []
    for _ in range(200):
        p = np.r_[rng.random(180), 1e-6 * rng.random(20)]
        found = np.flatnonzero(false_discoveries(p))
        assert len(found) >= 20
        shares.append(np.mean(found < 180))
    assert np.mean(shares) < 0.25
    assert not false_discoveries(np.ones(5)).any()


def test_rows_beyond_a_gap_are_found_where_the_law_has_too_long_a_tail():
    p = np.r_[np.linspace(0.1, 1.0, 900), np.full(50, 0.02)]
    np.testing.assert_array_equal(false_discoveries(p), p < 0.1)


# -- Networks -------------------------------------------------------------------------------------


@cases("parameters", ["last", "all"])
def test_gradients_of_a_network_are_those_of_autograd(parameters):
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(4, 5), torch.nn.Tanh(), torch.nn.Linear(5, 3))
    loss = torch.nn.CrossEntropyLoss()
    found = torch_gradients(net, loss, X, THREE, parameters=parameters)
    some = net[2].parameters() if parameters == "last" else net.parameters()
    some = list(some)
    for row in (0, 7, 79):
        value = loss(net(torch.tensor(X[[row]], dtype=torch.float32)), torch.tensor(THREE[[row]]))
        expected = [g.flatten() for g in torch.autograd.grad(value, some)]
        np.testing.assert_allclose(found[row], torch.cat(expected).numpy(), atol=1e-5)
    assert net.training


def test_projected_gradients_keep_their_lengths():
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    net, loss = torch.nn.Linear(4, 300), torch.nn.MSELoss()
    y = RNG.standard_normal((80, 300))
    whole = torch_gradients(net, loss, X, y, max_columns=10**6)
    small = torch_gradients(net, loss, X, y, max_columns=400)
    assert whole.shape == (80, 1500) and small.shape == (80, 400)
    ratio = np.linalg.norm(small, axis=1) / np.linalg.norm(whole, axis=1)
    assert ratio.min() > 0.8 and ratio.max() < 1.25 and abs(ratio.mean() - 1.0) < 0.05
    with pytest.raises(ValueError, match="parameters must be one of"):
        torch_gradients(net, loss, X, y, parameters="first")
    net.requires_grad_(False)
    with pytest.raises(ValueError, match="no parameter that is trained"):
        torch_gradients(net, loss, X, y)


def test_linear_models_and_networks_agree():
    torch = pytest.importorskip("torch")
    model = linear_model.LogisticRegression().fit(X, THREE)
    net = torch.nn.Linear(4, 3).double()
    with torch.no_grad():
        net.weight.copy_(torch.tensor(model.coef_))
        net.bias.copy_(torch.tensor(model.intercept_))
    theirs = torch_gradients(net, torch.nn.CrossEntropyLoss(), X, THREE)
    ours = Gradients.of(model, X, THREE).table().reshape(80, 3, 5)
    np.testing.assert_allclose(theirs[:, :12].reshape(80, 3, 4), ours[:, :, :4], atol=1e-10)
    np.testing.assert_allclose(theirs[:, 12:], ours[:, :, 4], atol=1e-10)


def test_transformers_have_no_loss():
    with pytest.raises(TypeError, match="gradients of PCA are not known"):
        Gradients.of(PCA().fit(X), X, None)
