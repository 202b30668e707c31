"""Pictures as rows: what is read, against how it was written, and what is refused."""

import shutil

import numpy as np
import pytest
from scipy.stats import rankdata
from sklearn.datasets import load_digits

from inlier.research.datasets import digits, faces, images, read_images

pytest.importorskip("skimage")
from PIL import Image

RNG = np.random.default_rng(0)
X, Y, SHAPE = RNG.random((6, 20)), np.arange(6) < 2, (5, 4)


def picture(*shape):
    return RNG.integers(0, 256, shape).astype(np.uint8)


def write(path, pixels):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(pixels).save(path)


# -- What comes inside packages -------------------------------------------------------------------


def test_digits_are_those_of_scikit_learn():
    rows, digit = load_digits(return_X_y=True)
    for good, bad, n_bad in ((0, 1, 60), (7, 3, 5)):
        model = digits(good, bad, n_bad)
        np.testing.assert_array_equal(model.X[~model.is_outlier], rows[digit == good])
        np.testing.assert_array_equal(model.X[model.is_outlier], rows[digit == bad][:n_bad])
        assert model.shape == (8, 8) and model.name == f"digits {good} and {bad}"


def test_faces():
    from skimage.data import lfw_subset

    model = faces()
    assert (model.n, model.d, model.n_outliers, model.shape) == (140, 625, 40, (25, 25))
    assert (model.X.min(), model.X.max()) == (0.0, 255.0)
    # The first 100 of the package are faces, the next 100 are not.
    assert not model.is_outlier[:100].any()
    ratio = model.X.reshape(140, 25, 25) / lfw_subset()[:140].clip(1e-9)
    assert np.ptp(ratio[model.X.reshape(140, 25, 25) > 1.0]) < 1e-9 * ratio.max()


# -- One file -------------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [X, X.reshape(6, 5, 4), (255 * X).astype(np.uint8)])
def test_a_file_is_read_as_it_was_written(tmp_path, rows):
    path = tmp_path / "mine.npz"
    np.savez(path, X=rows, y=Y.astype(int), shape=SHAPE)
    model = read_images(str(path))
    np.testing.assert_array_equal(model.X, rows.reshape(6, 20))
    np.testing.assert_array_equal(model.is_outlier, Y)
    assert (model.shape, model.name) == (SHAPE, "mine")


GOOD = {"X": X, "y": Y, "shape": SHAPE}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"y": Y}, "it has no X"),
        ({"Z": X}, "it has no X and no y"),
        ({"X": X, "y": Y}, r"shape=\(36, 30\) does not fit: .* 20 pixels"),
        ({**GOOD, "shape": 20}, "a height and a width"),
        ({**GOOD, "y": Y[:5]}, "give one bool for each of the 6 rows"),
        ({**GOOD, "X": X * np.nan}, "contains NaN"),
        ({**GOOD, "X": X.astype(object)}, "Object arrays cannot be loaded"),
        ({**GOOD, "X": 3.0}, "cannot be used"),
        ({**GOOD, "shape": (-5, -4)}, "a height and a width"),
    ],
)
def test_files_that_cannot_be_used_are_named_with_what_to_do(tmp_path, content, message):
    path = tmp_path / "mine.npz"
    np.savez(path, **content)
    with pytest.raises(ValueError, match=message) as caught:
        read_images(path)
    said = str(caught.value)
    assert str(path) in said and "It should be an .npz file with X" in said


# -- Names of the FEI database --------------------------------------------------------------------

NEUTRAL = [f"{i}a" for i in range(1, 101)]
PROFILES = [f"{i}-{'01' if i % 2 else '10'}" for i in range(101, 121)]
SMILING = [f"{i}b" for i in range(121, 141)]


@pytest.fixture(scope="module")
def fei(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fei")
    for name in NEUTRAL + PROFILES + SMILING:
        write(folder / f"{name}.png", picture(24, 32, 3))
    # There are many more in the database, and some systems like capitals.
    for name in ("101a", "1b", "101-02", "141b", "120-01"):
        write(folder / f"{name}.jpg", picture(24, 32, 3))
    (folder / "7a.png").rename(folder / "7A.PNG")
    return folder


def test_the_papers_numbers_out_of_fei(fei, tmp_path):
    model = read_images(fei)
    assert (model.n, model.d, model.n_outliers, model.shape) == (140, 1080, 40, (36, 30))
    assert not model.is_outlier[:100].any()
    # The same picture under all names: the last twenty are upside down.
    same = picture(24, 32, 3)
    for name in NEUTRAL + PROFILES + SMILING:
        write(tmp_path / f"{name}.png", same)
    X = read_images(tmp_path).X
    assert np.ptp(X[:120], axis=0).max() == 0.0 == np.ptp(X[120:], axis=0).max()
    half_turn = np.rot90(X[0].reshape(36, 30), 2)
    np.testing.assert_allclose(X[-1].reshape(36, 30), half_turn, atol=1e-9)
    assert not np.array_equal(X[0], X[-1])


def test_all_grey_values_are_equally_frequent(tmp_path, monkeypatch):
    # Already of the right size, and no grey value twice: equalising leaves the ranks.
    monkeypatch.setattr(images, "CROP", 1.0)
    values = RNG.permutation(1080).reshape(36, 30)
    write(tmp_path / "1a.png", (60 * values).astype(np.uint16))
    row = images._row(tmp_path / "1a.png", upside_down=False)
    np.testing.assert_allclose(row, 255.0 * rankdata(values) / 1080.0, atol=255.0 / 1080.0)


def test_what_is_no_picture_is_named(fei, tmp_path):
    copy = shutil.copytree(fei, tmp_path / "copy")
    (copy / "2a.png").write_text("no picture")
    with pytest.raises(ValueError, match=r"2a\.png' is no picture that can be read"):
        read_images(copy)


@pytest.mark.parametrize("name", ["1a", "110-10", "140b"])
def test_a_missing_picture_is_named_with_what_to_do(fei, tmp_path, name):
    copy = shutil.copytree(fei, tmp_path / "copy")
    (copy / f"{name}.png").unlink()
    message = rf"has 144 files, but 1 of the 140 .* such as {name}\.jpg\. Put them there .* own"
    with pytest.raises(ValueError, match=message):
        read_images(copy)
