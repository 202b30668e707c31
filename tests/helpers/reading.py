"""Fits to report on, and the words of a page."""

from functools import partial
from html.parser import HTMLParser

import inlier
from fits import quietly, robust_mean

fitted = partial(quietly, robust_mean)
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


def summary_of(X, **options):
    return fitted(X, **options)._summary


def sample(n=400, d=30, alpha=0.2):
    return inlier.research.datasets.SettingA(n=n, d=d, alpha=alpha).sample(random_state=0).X


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
