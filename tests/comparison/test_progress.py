"""Progress is shown to those who asked."""

from contestants import MODEL, Mean
from inlier import compare


def test_silent_unless_asked(capfd):
    compare(MODEL, "mean", trials=1)
    assert capfd.readouterr() == ("", "")
    compare(MODEL, ["mean", Mean()], trials=2, timeout=None, progress=True)
    out, err = capfd.readouterr()
    assert out == "" and "compare 1/4  Mean" in err and err.endswith("\r")
