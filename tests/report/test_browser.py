"""The page in a real browser: sorting, tooltips, dark mode, narrow screens, print."""

import re
import shutil
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_wine

from inlier import robust_mean
from inlier.report import page
from inlier.report.numbers import number
from reading import HOSTILE, parsed

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)


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
    assert tab.locator("section").count() == 10
    assert tab.locator("svg.chart").count() == 6
    boxes = tab.eval_on_selector_all(
        "svg.chart", "charts => charts.map(c => c.getBoundingClientRect().height)"
    )
    assert min(boxes) > 150
    assert tab.locator("svg[role=img] > title").count() == 6
    assert tab.locator("svg[role=img] > desc").count() == 6


def test_a_header_sorts(opened, html, result):
    tab = opened(html)
    head = tab.locator("table.features thead th").nth(4)
    button = head.locator("button")
    assert button.inner_text() == "deviation"
    before = sorted(map(float, column(tab, 4)))
    button.click()
    assert head.get_attribute("aria-sort") == "descending"
    assert list(map(float, column(tab, 4))) == before[::-1]
    button.focus()
    tab.keyboard.press("Enter")
    assert head.get_attribute("aria-sort") == "ascending"
    assert list(map(float, column(tab, 4))) == before
    tab.locator("table.features thead button").first.click()
    assert tab.locator("table.features [aria-sort]").count() == 1
    assert column(tab, 0) == [f"x{i}" for i in range(30)]  # x2 before x10
    tab.locator("table.features thead button").nth(6).click()
    assert (np.diff(np.abs(list(map(float, column(tab, 6))))) <= 0).all()
    # What is not a number comes last.
    median = result._summary.median.copy()
    median[:3] = [np.nan, np.inf, -np.inf]
    tab = opened(page(replace(result._summary, median=median)))
    for first, last in (("inf", ["-inf", "nan"]), ("-inf", ["inf", "nan"])):
        tab.locator("table.features thead button").nth(3).click()
        assert (column(tab, 3)[0], column(tab, 3)[-2:]) == (first, last)


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
          const marks = svg.querySelectorAll(`[data-rows="${kind.key}"] use`);
          const mark = marks[kind.rows.indexOf(row)];
          const box = svg.getBoundingClientRect();
          const scale = box.width / 360;
          const [x, y] = ["x", "y"].map((name) => scale * mark.getAttribute(name));
          return [box.left + x, box.top + y];
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


def test_a_script_that_was_put_into_the_page_does_not_run(browser, html):
    tab = browser.new_page()
    put = "<script>document.title = 'put in'</script><b onclick=\"document.title = 'put in'\">b</b>"
    tab.set_content(html.replace("</h1>", f"</h1>{put}"))
    tab.locator("header b").click()
    assert tab.title() == "measurements.csv · inlier"
    assert tab.locator("table.features thead button").count()  # that of the page has run
    tab.close()


def test_hostile_names_are_harmless(opened, hostile, result):
    html = page(hostile, title=HOSTILE[0], source=HOSTILE[1], notes=HOSTILE)
    parsed(html)
    tab = opened(html)
    calm = opened(page(result._summary, title="t", source="s", notes=["a note"] * len(HOSTILE)))
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
    stroke = "getComputedStyle(document.querySelector('[data-rows=kept-0] use')).fill"
    assert light.evaluate(stroke) != dark.evaluate(stroke)
    assert max(map(int, re.findall(r"\d+", night))) < 60 < 200
    assert min(map(int, re.findall(r"\d+", paper))) > 200
    light.locator("button.theme").click()
    assert light.evaluate(background) == night
    light.locator("button.theme").click()
    assert light.evaluate(background) == paper
    dark.locator("button.theme").click()
    assert dark.evaluate(background) == paper


def test_tables_are_not_cut_on_a_wide_screen(opened):
    table = load_wine(as_frame=True).data
    table.loc[[3, 50, 121], "magnesium"] *= 10
    table.loc[140] *= 100
    tab = opened(robust_mean(table).to_html(), viewport={"width": 1200, "height": 800})
    assert tab.locator("table.extreme-cells").count() == 1
    widths = "tables => tables.map(table => table.scrollWidth - table.clientWidth)"
    assert max(tab.eval_on_selector_all(".scroll", widths)) == 0


def test_narrow(opened, html, result):
    several = page([("north", result._summary), ("south", result._summary)])
    for one, width in ((html, 360), (several, 400)):
        tab = opened(one, viewport={"width": width, "height": 800})
        assert tab.evaluate("document.documentElement.scrollWidth") == width
        charts = tab.eval_on_selector_all(
            "svg.chart", "charts => charts.map(c => c.getBoundingClientRect().width)"
        )
        assert min(charts) > 0.85 * (width - 32)


def test_print_and_no_script(opened, html):
    tab = opened(html, color_scheme="dark")
    assert tab.pdf(format="A4").startswith(b"%PDF-")
    tab.emulate_media(media="print")
    assert tab.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    still = opened(html, java_script_enabled=False)
    assert still.locator("table.features tbody tr").count() == 30
    assert still.locator("svg.chart [data-rows] use").first.is_visible()
    for one in (tab, still):
        assert not one.locator("button.theme").is_visible()
        assert not one.locator(".controls").first.is_visible()
