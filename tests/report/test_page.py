"""Page and card say what the result says, whatever names and numbers they are given."""

import base64
import hashlib
import json
import re
import sys
from dataclasses import replace
from html import unescape

import numpy as np
import pytest
from matplotlib.figure import Figure

from inlier.report import card, page, plot
from inlier.report.document import _environment
from inlier.report.numbers import fixed, number, percent
from inlier.results.explanation import shortened
from reading import HOSTILE, fitted, parsed, sample, summary_of, words


def test_no_address_outside(html, hostile):
    for one in (html, page(hostile, title="<i>", source="/tmp/<x>.csv")):
        assert not re.findall(r"https?:|url\(|@import|//[a-z]+\.", one)
        (script,) = re.findall(r"<script>(.*?)</script>", one, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; "
        assert f"{policy}img-src data:" in one
        stack = parsed(one)
        links = [a for _, a in stack.seen if "src" in a or "href" in a]
        assert all(a.get("href", a.get("src")).startswith(("#", "data:")) for a in links)


def test_it_says_what_the_result_says(result, html):
    said = words(html)
    assert f"at least {result.certificate.l0_lower_bound} rows had to be removed" in said
    assert "Dropped 3 rows." in said
    kept = sample()[result.support]
    shift = (sample().mean(axis=0) - kept.mean(axis=0)) / kept.std(axis=0)
    most = int(np.argmax(np.abs(shift)))
    assert f"off most in x{most} ({shift[most]:+.2g})" in said
    # The message is there as a whole.
    assert dict(parsed(html).seen)["meta"]["name"] == "generator"
    assert unescape(html).count(result.message) == 1


def test_doubts_can_be_read():
    doubtful = fitted(sample(alpha=0.4), assume="symmetric")
    added = doubtful.message.rpartition("good rows. ")[2]
    assert "only because they are the minority" in added
    doubt = added.partition("minority: ")[0] + "minority"
    assert doubt in words(page(doubtful._summary))


def test_marks_are_the_rows(html, result):
    """Each chart of rows has one mark for each row, by group."""
    marks = re.findall(r'<g data-rows="([^"]*)">(.*?)</g></g>', html, re.S)
    sizes = {"kept-0": int(result.support.sum())}
    sizes |= {f"group-{i}": group.size for i, group in enumerate(result.groups)}
    assert len(marks) == 4 * len(sizes)  # the scores, and three pairs of directions
    for key, drawn in marks:
        assert drawn.count("<use ") == sizes[key]
    listed = json.loads(re.search(r'class="rows">(.*?)</script>', html)[1])
    assert {kind["key"]: len(kind["rows"]) for kind in listed} == sizes
    for kind in listed[1:]:
        assert not result.support[kind["rows"]].any()


def test_parts_add_up(html, result):
    cards = re.findall(r'<article class="row-card" data-score="(.*?)">(.*?)</article>', html, re.S)
    assert len(cards) == 10
    for score, inside in cards:
        parts = re.findall(r'data-value="([^"]*)">(?:(?!<td).)*</td>\s*</tr>', inside, re.S)
        assert len(parts) == 7
        np.testing.assert_allclose(sum(map(float, parts)), float(score), rtol=1e-12)


def test_large_data_stay_small():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20_000, 50))
    X[:3000] += 3.0
    X[:500] += 3.0
    found = fitted(X)
    html = page(found._summary)
    assert len(html.encode()) < 1_000_000
    said = words(html)
    removed = len(X) - int(found.support.sum())
    assert removed >= 3000
    assert f"of the {removed:,} removed rows are drawn, taken at random" in said
    assert f"1,500 of the {20_000 - removed:,} kept rows" in said
    assert "and 1,5" in said  # the list of rows has an end too


def test_many_columns():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 900))
    X[:12, :40] += 20.0
    html = page(summary_of(X))
    assert "Of 900 columns, the 500 with the largest shift are listed." in words(html)
    body = html.partition('class="features sortable"')[2].partition("</table>")[0]
    assert body.count("<tr>") == 501
    shifts = re.findall(r'data-value="([^"]*)"><svg', body)
    assert (np.diff(np.abs([float(s) for s in shifts])) <= 0).all()


def degenerate():
    rng = np.random.default_rng(0)
    normal = rng.standard_normal
    far = normal((60, 3))
    far[:5] = 1e300
    opposite = normal((60, 3))
    opposite[0], opposite[1] = 1e308, -1e308
    ones = np.full((10, 5), 20.0)
    return {
        "two rows": (normal((2, 3)), {}),
        "two rows, one column": (normal((2, 1)), {}),
        "one column": (normal((50, 1)), {}),
        "two numbers": (np.array([[0.0], [1.0]]), {}),
        "1e60": (np.r_[normal((90, 5)), ones] * 1e60, {}),
        "one column, one far row": (np.r_[normal((50, 1)), [[1e6]]], {}),
        "two columns": (np.r_[normal((50, 2)), np.full((9, 2), 30.0)], {}),
        "nothing removed": (normal((100, 4)), {}),
        "everything removed": (normal((50, 4)), {"sigma": 1e-9}),
        "1e300": (far, {}),
        "1e308, opposite": (opposite, {}),
        "1e-150": (normal((50, 3)) * 1e-150, {}),
        "constant": (np.ones((50, 3)), {}),
        "a constant column": (np.c_[normal(50), np.full(50, 1e-300)], {}),
        "pruned": (np.r_[normal((90, 5)), 1e9 * ones], {"sigma": 1.5, "prune": 0.1}),
        "in units": (np.r_[normal((90, 5)), ones], {"scatter": "diagonal"}),
        "single precision": (np.r_[normal((90, 5)), ones].astype(np.float32), {}),
    }


@pytest.mark.parametrize("case", degenerate())
def test_degenerate_data(case):
    X, options = degenerate()[case]
    summary = summary_of(X, **options)
    html = page(summary, title=case)
    said = words(html)
    assert f"{len(X) - summary.n_removed} of {len(X)} rows kept" in said
    assert not re.findall(r'(?:d|x|y|width)="[^"]*(?:nan|inf)', html)
    assert ("did not converge" in said) is not summary.converged
    # What the page has not drawn; to the end, because much goes wrong in the layout.
    none_kept = replace(summary, support=np.zeros(len(X), np.bool_))
    figure = Figure(figsize=(6.0, 4.0), dpi=50, layout="constrained")
    plot(none_kept, "rows", figure.add_subplot())
    figure.draw_without_rendering()


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e300, -1e300, 1e-300, 0.0])
def test_any_number_anywhere(result, value):
    """Numbers that no fit has given so far."""
    summary = result._summary
    odd = np.full(summary.d, value)
    n = summary.n
    scores = np.where(np.arange(n) % 7 == 0, value, summary.scores)
    changed = replace(
        summary,
        plain=odd,
        median=odd,
        deviation=np.abs(odd),
        standard_error=np.abs(odd),
        scores=scores,
        threshold=abs(value),
        before=odd[:20],
        view=replace(summary.view, rows=np.full((3, n), value)),
    )
    html = page([("a", changed)])
    parsed(html)
    assert not re.findall(r'(?:d|x|y|width)="[^"]*(?:nan|inf)', html)


def test_given_sigma_and_no_convergence(result):
    given = fitted(sample(), sigma=1.5)
    said = words(page(given._summary))
    assert "not computed for a given sigma" in said
    assert "result.keep" not in said
    stopped = replace(result._summary, converged=False, message="Stopped <b>early</b>. Raise it.")
    html = page(stopped)
    assert 'role="alert"' in html
    assert "The fit did not converge. Stopped <b>early</b>. Raise it." in words(html)


def test_rows_too_far_away_to_draw():
    """Rows with many extreme cells may be too far away to square, or to draw beside the others."""
    X = np.random.default_rng(0).standard_normal((300, 5))
    X[:30] += 6.0
    X[100, 2:4], X[101, 2:4] = 1e200, 1e12
    found = fitted(X)
    assert found.groups[0].measure is not None and found.groups[0].share == 0.0
    said = words(page(found._summary))
    assert "2 rows too far away to draw are at the edge" in said.lower()


def test_several_groups(result, hostile, monkeypatch):
    html = page([("north", result._summary), ("<b>south</b>", hostile)], notes=["Dropped 3 rows."])
    said = words(html)
    assert "<b>south</b>" in said and "Dropped 3 rows." in said
    assert html.count('<article class="group">') == 2
    for i in range(2):
        assert f'href="#s{i}"' in html and f'id="s{i}"' in html
    monkeypatch.setattr("inlier.report.document.MOST_SECTIONS", 2)
    unknown = replace(result._summary, before=np.empty(0), after=np.empty(0))
    many = page([("first", unknown), *((f"group {i}", result._summary) for i in range(9))])
    assert many.count('<article class="group">') == 2
    assert "The 2 groups in which the plain mean is off most" in words(many)
    assert "only that of the kept ones is shown" in words(many) and "group 8" in many


def test_written_to_a_file(result, tmp_path):
    html = page(result._summary, path=tmp_path / "a.html")
    assert (tmp_path / "a.html").read_text(encoding="utf-8") == html
    assert result.to_html(tmp_path / "b.html") == html
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.html", "b.html"]
    with pytest.raises(ValueError, match="no folder"):
        page(result._summary, path=tmp_path / "missing" / "a.html")
    assert page(result._summary) == html  # nothing is random


def test_names_in_scripts_and_attributes_are_escaped(hostile):
    html = page(hostile, title="<a & \"b\" 'c'>\x00\ud800")
    assert "<title>&lt;a &amp; &#34;b&#34; &#39;c&#39;&gt;\ufffd\ufffd · inlier</title>" in html
    inside = re.search(r'class="rows">(.*?)</script>', html)[1]
    assert not set(inside) & set("<>&\u2028\u2029")
    names = {name for kind in json.loads(inside) for name in kind["names"]}
    assert names == {shortened(one, 60) for one in HOSTILE}
    assert "(no name)" in html


@pytest.mark.parametrize("name", ["jinja2", "matplotlib"])
def test_the_error_names_the_extra(result, monkeypatch, name):
    _environment.cache_clear()
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=rf"{name} is needed.*inlier\[report\]"):
        page(result._summary)
    assert "rows kept" in result._repr_html_()  # the card needs none of them


def test_the_style_of_notebooks_does_not_matter(html, result):
    from matplotlib import pyplot

    with pyplot.style.context("dark_background"), pyplot.xkcd():
        pyplot.rcParams["font.size"] = 30.0
        assert page(result._summary, title="measurements.csv", notes=["Dropped 3 rows."]) == html


def test_card(result):
    html = result._repr_html_()
    assert html == card(replace(result, _data=None))  # the data are not read
    X = sample()
    X[300, 1] = 1e6
    assert "1 cell set aside" in words(card(fitted(X))) and "set aside" not in words(html)
    assert "<style" not in html and "<script" not in html
    bad = replace(result, converged=False)
    object.__setattr__(bad, "message", "<script>alert(1)</script>")  # it may hold a name
    assert "<script>alert(1)</script>" in words(card(bad))
    assert "<script" not in card(bad)


def test_numbers():
    assert [number(x) for x in (0.0, 1234.5, -0.00001, 1e300, 123456.7)] == [
        "0", "1,234", "−1e−5", "1e300", "123,457",
    ]  # fmt: skip
    assert [number(x) for x in (np.inf, -np.inf, np.nan)] == ["∞", "−∞", "not a number"]
    assert [fixed(-0.0001, 2), fixed(-2.346, 2), fixed(123456.789, 3)] == [
        "0.00", "−2.35", "123,457",
    ]  # fmt: skip
    assert [percent(a, 10_000) for a in (0, 1, 500, 9_999, 10_000)] == [
        "0%", "below 0.1%", "5%", "above 99.9%", "100%",
    ]  # fmt: skip
