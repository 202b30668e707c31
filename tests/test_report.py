"""The report says what the result says, in a real browser, whatever names it is given."""

import json
import re
import shutil
import warnings
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import inlier
from inlier.report import card, page, pages
from inlier.report.charts import Scale, around_zero, linear, logarithmic
from inlier.report.images import picture
from inlier.report.markup import embedded, name, text
from inlier.report.numbers import fixed, number, percent

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
VOID = {"br", "hr", "img", "input", "link", "meta"}
HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</script>",
    "</title></style><b>bold</b>",
    "",
    "x" * 500,
    "\u202eright to left\u202c",
    "שלום עולם",
    "\N{PILE OF POO}" * 3,
    "a\u2028b\u2029c",
    "' onmouseover=alert(1) '",
    "&lt;b&gt; ${title} $body",
    "<!--",
    "\x00\x07\ud800",
)


def fitted(X, **options):
    """A fit, whatever it warns about: what it says about the data is not at issue here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", inlier.WeakEvidenceWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        return inlier.robust_mean(X, **options)


def summary_of(X, **options):
    return fitted(X, **options).summary


def sample(n=400, d=30, alpha=0.2):
    return inlier.datasets.SettingA(n=n, d=d, alpha=alpha).sample(random_state=0).X


@pytest.fixture(scope="module")
def result():
    return fitted(sample())


@pytest.fixture(scope="module")
def html(result):
    return page(result.summary, title="measurements.csv", notes=["Dropped 3 rows."])


@pytest.fixture(scope="module")
def hostile():
    X = np.random.default_rng(0).standard_normal((400, len(HOSTILE)))
    X[:60] += 8.0
    names = [HOSTILE[i % len(HOSTILE)] for i in range(len(X))]
    found = fitted(X)
    return found.with_data(X, columns=HOSTILE, names=names).summary


# -- Without a browser ----------------------------------------------------------------------------


class Stack(HTMLParser):
    """Checks that what was opened is closed, and keeps the elements and their text."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.seen, self.ids, self.text = [], [], [], []

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))
        self.ids += [value for key, value in attrs if key == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, f"</{tag}> at {self.getpos()}"

    def handle_data(self, data):
        if self.open and self.open[-1] not in ("script", "style"):
            self.text.append(data)


def parsed(html):
    stack = Stack()
    stack.feed(html)
    stack.close()
    assert not stack.open
    assert len(stack.ids) == len(set(stack.ids))
    for kind, attributes in stack.seen:
        assert not [key for key in attributes if key.startswith("on")], (kind, attributes)
    return stack


def words(html):
    return " ".join(" ".join(parsed(html).text).split())


def test_no_address_outside(html, hostile):
    for one in (html, page(hostile, title="<i>", source="/tmp/<x>.csv")):
        own = one.replace("data:image/png;base64,", "")
        assert not re.findall(r"https?:|url\(|@import|//[a-z]+\.", own)
        policy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
        assert f"{policy}img-src data:" in one
        stack = parsed(one)
        links = [a for _, a in stack.seen if "src" in a or "href" in a]
        assert all(a.get("href", a.get("src")).startswith(("#", "data:")) for a in links)


def test_it_says_what_the_result_says(result, html):
    said = words(html)
    kept = int(result.support.sum())
    assert f"{kept} of 400 rows kept" in said
    assert f"{400 - kept} removed" in said
    assert result.certificate.statement() in said
    for group in result.groups:
        assert str(group) in said
    assert f"at least {result.certificate.l0_lower_bound} rows had to go" in said
    assert "Dropped 3 rows." in said
    # The message is there as a whole, and what it adds can be read.
    assert dict(parsed(html).seen)["meta"]["name"] == "generator"
    assert unescape(html).count(result.message) == 1
    assert result.message.rpartition("good rows. ")[2].removesuffix(" result.keep.") in said


def test_the_offset(result):
    plain = sample().mean(axis=0)
    offset = float(np.linalg.norm(plain - result.location))
    along = (plain - result.location) / offset
    seen = (sample()[result.support] - result.location) @ along
    ratio = offset / np.sqrt((seen**2).mean())
    said = words(page(result.summary))
    assert (
        f"off by {offset:.3g}, which is {ratio:.3g} times the standard deviation of the kept rows"
        in said
    )


def test_marks_are_the_rows(html, result):
    """Each chart of rows has one mark for each row, by group."""
    marks = re.findall(r'<path d="([^"]*)" class="[^"]*" data-mark="(-?\d+)">', html)
    sizes = {-1: int(result.support.sum())} | {i: g.size for i, g in enumerate(result.groups)}
    assert len(marks) == 4 * len(sizes)  # the scores, and three pairs of directions
    for drawn, mark in marks:
        assert drawn.count("M") == sizes[int(mark)]
    listed = json.loads(re.search(r'class="rows">(.*?)</script>', html)[1])
    assert {kind["mark"]: len(kind["rows"]) for kind in listed} == sizes
    for kind in listed[1:]:
        assert not result.support[kind["rows"]].any()


def test_parts_add_up(html, result):
    cards = re.findall(r'<article class="row-card" data-score="(.*?)">(.*?)</article>', html)
    assert len(cards) == 10
    for score, inside in cards:
        parts = re.findall(r'class="number (?:with-bar )?part" data-value="(.*?)"', inside)
        assert len(parts) == 7
        np.testing.assert_allclose(sum(map(float, parts)), float(score), rtol=1e-12)
    # The highest scores of each group, the same number of each.
    scores, shown = np.asarray(result.scores), []
    for group in result.groups:
        shown += sorted(scores[group.rows])[-(10 // len(result.groups)) :]
    expected = sorted(shown, reverse=True)
    np.testing.assert_allclose([float(score) for score, _ in cards], expected, rtol=1e-9)


def test_large_data_stay_small():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20_000, 200))
    X[:3000] += 3.0
    X[:500] += 3.0
    found = fitted(X)
    html = page(found.summary)
    assert len(html.encode()) < 1_000_000
    said = words(html)
    removed = len(X) - int(found.support.sum())
    assert removed >= 3000
    assert f"of the {removed:,} removed rows are drawn, taken at random" in said
    assert f"2,000 of the {20_000 - removed:,} kept rows" in said
    assert "and 1,5" in said  # the list of rows has an end too


def test_many_columns():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 900))
    X[:12, :40] += 20.0
    html = page(summary_of(X))
    assert "Of 900 columns, the 500 with the largest shift are listed." in words(html)
    body = html.partition('class="features sortable"')[2].partition("</table>")[0]
    assert body.count("<tr>") == 501
    shifts = re.findall(r'with-bar" data-value="(.*?)"', body)
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
    assert not re.findall(r'(?:points|d|x|y|x1|y1|width)="[^"]*(?:nan|inf)', html)
    assert ("did not end well" in said) is not summary.converged


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e300, -1e300, 1e-300, 0.0])
def test_any_number_anywhere(result, value):
    """Numbers that no fit has given so far."""
    summary = result.summary
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
        offset=abs(value),
        offset_deviation=abs(value),
        before=odd[:20],
        view=replace(summary.view, rows=np.full((3, n), value)),
    )
    for html in (
        page(changed),
        page(replace(summary, before=np.empty(0), after=np.empty(0))),
        pages([("a", changed), ("b", summary)]),
    ):
        parsed(html)
        assert not re.findall(r'(?:points|d|x|y|x1|y1|width)="[^"]*(?:nan|inf)', html)


def test_no_path_and_no_convergence(result):
    given = fitted(sample(), sigma=1.5)
    said = words(page(given.summary))
    assert "There is no path" in said
    assert "result.keep" not in said
    stopped = replace(result.summary, converged=False, message="Stopped <b>early</b>. Raise it.")
    html = page(stopped)
    assert 'role="alert"' in html
    assert "The fit did not end well. Stopped <b>early</b>. Raise it." in words(html)


def test_a_path_from_infinity():
    """What left for its cells may be too far away to square, or to draw beside the others."""
    X = np.random.default_rng(0).standard_normal((300, 5))
    X[:30] += 6.0
    X[100, 2], X[101, 3] = 1e200, 1e7
    found = fitted(X)
    assert np.isinf(found.path[0].sigma) and found.groups[0].measure is not None
    html = page(found.summary)
    assert "sigma is infinite: below an arrow" in words(html)
    assert html.count('class="arrow"') == 1
    said = words(html)
    assert "2 rows too far away to draw are at the edge" in said.lower()
    # The others keep their digits beside a point that is larger by far.
    X[100, 2] = 1e9
    found = fitted(X)
    assert found.path[0].sigma > 1e6 * found.sigma
    assert f"{found.sigma:.2f}" in words(page(found.summary))
    for point, group in zip(found.path[1:], found.groups, strict=False):
        assert point.share == group.share == 0.0


def test_images():
    rng = np.random.default_rng(0)
    X = rng.random((80, 12))
    X[:20] += 3.0
    summary = summary_of(X)
    html = page(summary, image=(3, 4))
    images = [a["src"] for tag, a in parsed(html).seen if tag == "img"]
    assert len(images) == 3 + len(summary.worst)
    with pytest.raises(ValueError, match="height \\* width = 12"):
        page(summary, image=(5, 5))


def test_png_is_read_by_others(tmp_path):
    image = pytest.importorskip("PIL.Image")
    import base64

    values = np.arange(6.0)
    html = picture(values, (2, 3), (0.0, 5.0), "six")
    data = base64.b64decode(re.search(r"base64,([^\"]+)", html)[1])
    (tmp_path / "six.png").write_bytes(data)
    pixels = np.asarray(image.open(tmp_path / "six.png"))
    np.testing.assert_array_equal(pixels, (values * 51).reshape(2, 3))
    big = re.search(r"base64,([^\"]+)", picture(np.ones(300 * 200), (300, 200), (0.0, 2.0), ""))[1]
    (tmp_path / "big.png").write_bytes(base64.b64decode(big))
    pixels = np.asarray(image.open(tmp_path / "big.png"))
    assert pixels.shape == (100, 67)
    assert (pixels == 128).all()


def test_several_groups(result, hostile):
    sections = [("north", result.summary), ("<b>south</b>", hostile)]
    html = pages(sections, title="by region", notes=["Dropped 3 rows."])
    said = words(html)
    assert "<b>south</b>" in said
    assert "Dropped 3 rows." in said
    assert html.count('<article class="group">') == 2
    for i in range(2):
        assert f'href="#s{i}"' in html and f'id="s{i}"' in html
    many = pages([(f"group {i}", result.summary) for i in range(60)])
    assert len(many.encode()) < 2_000_000
    assert many.count('<article class="group">') == 20
    assert "The 20 groups in which the plain mean is off most" in words(many)
    assert "group 59" in many
    with pytest.raises(ValueError, match="at least one"):
        pages([])


def test_written_to_a_file(result, tmp_path):
    html = page(result.summary, path=tmp_path / "a.html")
    assert (tmp_path / "a.html").read_text(encoding="utf-8") == html
    assert result.to_html(tmp_path / "b.html") == html
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.html", "b.html"]
    with pytest.raises(ValueError, match="no folder"):
        page(result.summary, path=tmp_path / "missing" / "a.html")
    assert page(result.summary) == html  # nothing is random


def test_card(result):
    html = result._repr_html_()
    assert html == card(replace(result, data=None))  # the data are not looked at
    said = words(html)
    assert "319 of 400 rows kept" in said
    assert result.certificate.statement() in said
    assert all(str(group) in said for group in result.groups)
    assert "<style" not in html and "<script" not in html
    bad = replace(result, converged=False, message="<script>alert(1)</script>")
    assert "<script>alert(1)</script>" in words(card(bad))
    assert "<script" not in card(bad)


def test_markup():
    assert text("<a & \"b\" 'c'>") == "&lt;a &amp; &quot;b&quot; &#x27;c&#x27;&gt;"
    assert text("\x00\ud800ok") == "\ufffd\ufffdok"
    assert "no name" in name("  ")
    raw = embedded(["</script><!--", "&", "\u2028\u2029", "\ud800"])
    inside = raw.removeprefix('<script type="application/json" class="rows">')
    inside = inside.removesuffix("</script>")
    assert not set(inside) & set("<>&\u2028\u2029")
    assert json.loads(inside)[:3] == ["</script><!--", "&", "\u2028\u2029"]


def test_numbers():
    assert [number(x) for x in (0.0, 1234.5, -0.00001, 1e300, 123456.7)] == [
        "0", "1,234", "−1e−5", "1e300", "123,457",
    ]  # fmt: skip
    assert [number(x) for x in (np.inf, -np.inf, np.nan)] == ["∞", "−∞", "not a number"]
    assert fixed(-0.0001, 2) == "0.00"
    assert fixed(-2.346, 2) == "−2.35"
    assert fixed(123456.789, 3) == "123,457"
    assert [percent(a, 10_000) for a in (0, 1, 500, 9_999, 10_000)] == [
        "0%", "below 0.1%", "5%", "above 99.9%", "100%",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "scale",
    [
        linear(np.array([0.0, 1.0])),
        linear(np.array([1e9, 1e9 + 1e-6])),
        linear(np.array([-1e308, 1e308])),
        linear(np.array([1e-300, 3e-300])),
        linear(np.array([5.0, 5.0])),
        linear(np.array([np.nan, np.inf])),
        linear(np.array([0.0]), zero=True),
        logarithmic(1e-300, 1e300),
        logarithmic(0.9, 1.1),
        logarithmic(0.0, 0.0),
        around_zero(np.array([-1.0, 1e6]), 2.0),
        around_zero(np.array([-1e306, 1e-6]), 1e-6),
        Scale(0.0, 1e-320),
    ],
)
@np.errstate(all="ignore")
def test_scales(scale):
    ticks = scale.ticks
    assert 1 <= len(ticks) <= 12
    assert ticks == sorted(set(ticks))
    places = scale(np.array([-np.inf, *ticks, np.inf]))
    assert ((places >= 0.0) & (places <= 1.0)).all()
    assert (np.diff(places) >= 0.0).all()
    assert np.isnan(scale(np.array([np.nan]))).all()


# -- In a browser ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def browser():
    if CHROMIUM is None:
        pytest.skip(
            "no chromium, chromium-browser or google-chrome to look at the page with: "
            "apt-get install chromium"
        )
    api = pytest.importorskip("playwright.sync_api", reason="playwright drives the browser")
    with api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture
def opened(browser, tmp_path):
    """Opens a page from a file; at the end nothing may have gone wrong or been asked for."""
    faults, asked, contexts = [], [], []

    def open_page(html, **options):
        path = tmp_path / "report.html"
        path.write_text(html, encoding="utf-8")
        context = browser.new_context(**{"viewport": {"width": 1000, "height": 800}, **options})
        contexts.append(context)
        tab = context.new_page()
        tab.on("console", lambda message: faults.append(message.text))
        tab.on("pageerror", lambda error: faults.append(str(error)))
        tab.on("dialog", lambda dialog: (faults.append("dialog"), dialog.dismiss()))
        tab.on("request", lambda request: asked.append(request.url))
        tab.goto(path.as_uri())
        return tab

    yield open_page
    for context in contexts:
        context.close()
    assert faults == []
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
    assert len([url for url in asked if url.startswith("file:")]) == len(contexts)


def column(tab, index):
    return tab.eval_on_selector_all(
        "table.features tbody tr",
        "(rows, i) => rows.map((row) => row.cells[i].dataset.value ?? row.cells[i].textContent)",
        index,
    )


def test_it_renders(opened, html):
    tab = opened(html)
    assert tab.locator("h1").inner_text() == "measurements.csv"
    assert tab.locator("section").count() == 9
    assert tab.locator("svg.chart").count() == 9
    boxes = tab.eval_on_selector_all(
        "svg.chart", "charts => charts.map(c => c.getBoundingClientRect().height)"
    )
    assert min(boxes) > 150
    assert tab.locator("svg[role=img] > title").count() == 9
    assert tab.locator("svg[role=img] > desc").count() == 9


def test_a_header_sorts(opened, html):
    tab = opened(html)
    for index, label in ((1, "robust mean"), (4, "deviation"), (5, "standard error")):
        head = tab.locator("table.features thead th").nth(index)
        button = head.locator("button")
        assert button.inner_text() == label
        before = sorted(map(float, column(tab, index)))
        button.click()
        assert head.get_attribute("aria-sort") == "descending"
        assert list(map(float, column(tab, index))) == before[::-1]
        button.focus()
        tab.keyboard.press("Enter")
        assert head.get_attribute("aria-sort") == "ascending"
        assert list(map(float, column(tab, index))) == before
    assert tab.locator("table.features [aria-sort]").count() == 1
    tab.locator("table.features thead button").first.click()
    assert column(tab, 0) == [f"x{i}" for i in range(30)]  # x2 before x10
    shift = tab.locator("table.features thead button").last
    shift.click()
    sizes = np.abs(list(map(float, column(tab, 6))))
    assert (np.diff(sizes) <= 0).all()


def test_what_is_no_number_comes_last(opened, result):
    summary = result.summary
    median = summary.median.copy()
    median[:3] = [np.nan, np.inf, -np.inf]
    tab = opened(page(replace(summary, median=median)))
    button = tab.locator("table.features thead button").nth(3)
    button.click()
    assert column(tab, 3)[0] == "inf"
    assert column(tab, 3)[-2:] == ["-inf", "nan"]
    button.click()
    assert column(tab, 3)[0] == "-inf"
    assert column(tab, 3)[-2:] == ["inf", "nan"]


def test_the_filter(opened, html):
    tab = opened(html)
    field = tab.get_by_label("Find a column")
    rows = tab.locator("table.features tbody tr:visible")
    assert rows.count() == 30
    field.fill("X1")
    assert rows.count() == 11  # x1 and x10 to x19
    assert tab.locator("output.found").inner_text() == "11 of 30"
    field.fill("nothing like it")
    assert rows.count() == 0
    field.fill("")
    assert rows.count() == 30


def test_which_row_is_under_the_pointer(opened, html, result):
    tab = opened(html)
    chart = tab.locator("svg.chart").first
    chart.scroll_into_view_if_needed()
    worst = int(np.argmax(result.scores))
    x, y = tab.evaluate(
        """(row) => {
          const kinds = JSON.parse(document.querySelector("script.rows").textContent);
          const kind = kinds.find((k) => k.rows.includes(row));
          const svg = document.querySelector("svg.chart");
          const path = svg.querySelector(`path[data-mark="${kind.mark}"]`);
          const at = [...path.getAttribute("d").matchAll(/M([\\d.]+) ([\\d.]+)/g)];
          const m = at[kind.rows.indexOf(row)];
          const box = svg.getBoundingClientRect();
          const scale = box.width / 360;
          return [box.left + m[1] * scale, box.top + m[2] * scale];
        }""",
        worst,
    )
    tab.mouse.move(x + 1, y + 1)
    tip = tab.locator(".tip")
    assert tip.is_visible()
    assert tip.inner_text().split("\n")[0] == f"row {worst}"
    assert f"score {number(float(result.scores[worst]))}" in tip.inner_text()
    tab.mouse.move(2, 2)
    assert not tip.is_visible()


def test_hostile_names_are_harmless(opened, hostile, result):
    html = page(hostile, title=HOSTILE[0], source=HOSTILE[1], notes=HOSTILE)
    parsed(html)
    tab = opened(html)
    calm = opened(page(result.summary, title="t", source="s", notes=["a note"] * len(HOSTILE)))
    tab.wait_for_timeout(100)
    for kind in ("script", "img", "b", "style", "iframe", "title"):
        assert tab.locator(kind).count() == calm.locator(kind).count(), kind
    shown = tab.eval_on_selector_all(
        "table.features tbody th", "cells => cells.map(cell => cell.textContent)"
    )
    expected = {h if h.strip() else "(no name)" for h in HOSTILE[:-1]}
    assert set(shown) == expected | {"\ufffd\ufffd\ufffd"}
    assert tab.locator("h1").text_content() == HOSTILE[0]
    assert tab.title() == f"{HOSTILE[0]} · inlier"
    assert hostile.n_removed == 60
    listed = tab.locator(".removed-rows .listed").all_text_contents()
    assert len(listed) == 60
    assert set(listed) == set(shown)
    field = tab.get_by_label("Find a column")
    field.fill("<script>")
    assert tab.locator("table.features tbody tr:visible").count() == 1
    for width in (1000, 400):
        tab.set_viewport_size({"width": width, "height": 800})
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
    # Every row has such a name; the pointer passes over many of them.
    chart = tab.locator("svg.chart").first
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    for step in range(20):
        tab.mouse.move(box["x"] + 60 + 12 * step, box["y"] + box["height"] * 0.7)
    assert tab.locator(".tip *").count() <= 2


def test_dark_and_light(opened, html):
    background = "getComputedStyle(document.body).backgroundColor"
    light = opened(html, color_scheme="light")
    dark = opened(html, color_scheme="dark")
    paper, night = light.evaluate(background), dark.evaluate(background)
    assert paper != night
    assert max(map(int, re.findall(r"\d+", night))) < 60 < 200
    assert min(map(int, re.findall(r"\d+", paper))) > 200
    light.locator("button.theme").click()
    assert light.evaluate(background) == night
    light.locator("button.theme").click()
    assert light.evaluate(background) == paper
    dark.locator("button.theme").click()
    assert dark.evaluate(background) == paper


@pytest.mark.parametrize("width", [360, 400])
def test_narrow(opened, html, result, width):
    several = pages([("north", result.summary), ("south", result.summary)])
    for one in (html, several):
        tab = opened(one, viewport={"width": width, "height": 800})
        assert tab.evaluate("document.documentElement.scrollWidth") == width
        charts = tab.eval_on_selector_all(
            "svg.chart", "charts => charts.map(c => c.getBoundingClientRect().width)"
        )
        assert min(charts) > 0.85 * (width - 32)


def test_it_prints(opened, html):
    tab = opened(html, color_scheme="dark")
    assert tab.pdf(format="A4").startswith(b"%PDF-")
    tab.emulate_media(media="print")
    assert tab.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not tab.locator("button.theme").is_visible()
    assert not tab.get_by_label("Find a column").is_visible()


def test_without_script(opened, html):
    tab = opened(html, java_script_enabled=False)
    assert tab.locator("table.features tbody tr").count() == 30
    assert not tab.locator("button.theme").is_visible()
    assert not tab.locator(".controls").first.is_visible()
    assert tab.locator("svg.chart path[data-mark]").first.is_visible()
