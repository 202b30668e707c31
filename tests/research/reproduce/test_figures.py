"""The paper's figures."""

from inlier.research.reproduce.reproduction import reproduce
from studies import Watched


def test_figures_alone(tmp_path):
    watched = Watched()
    folders = tmp_path / "one", tmp_path / "other"
    for folder in folders:
        made = reproduce(folder, quick=True, only=["figures"], watch=watched)
    names = {"figure1.png", "figure1.svg", "figure2.png", "figure2.svg"}
    names |= {"README.md", "tables.html", "tables.tex", "results.csv"}
    assert {path.name for path in made.files} == names
    assert {path.name for path in folders[0].iterdir()} == names
    for name in names - {"README.md", "tables.html"}:
        assert (folders[0] / name).read_bytes() == (folders[1] / name).read_bytes()
    assert watched.last == watched.total == {"Figures 1 and 2": 2}
