"""The card of a notebook."""

from dataclasses import replace

from inlier.report import card
from reading import words


def test_card(result):
    html = result._repr_html_()
    assert html == card(replace(result, data=None))  # the data are not looked at
    said = words(html)
    assert "319 of 400 rows kept" in said
    assert result.certificate.statement() in said
    assert all(str(group) in said for group in result.groups)
    assert "<style" not in html and "<script" not in html
    bad = replace(result, converged=False)
    object.__setattr__(bad, "message", "<script>alert(1)</script>")  # it may hold a name
    assert "<script>alert(1)</script>" in words(card(bad))
    assert "<script" not in card(bad)
