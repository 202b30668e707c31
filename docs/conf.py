"""The documentation as a site; `make docs` builds it into out/docs."""

import re
from pathlib import Path

import inlier

project = "inlier"
author = "the inlier developers"
copyright = author
version = release = inlier.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx_gallery.gen_gallery",
    "sphinx-mathjax-offline",  # pages need no network
]
exclude_patterns = ["_templates"]
templates_path = ["_templates"]
root_doc = "index"
default_role = "py:obj"  # what a docstring calls by name is linked, if it is public
suppress_warnings = ["config.cache"]  # of the functions in sphinx_gallery_conf

# -- Pages ----------------------------------------------------------------------------------------

myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3

HERE = Path(__file__).parent
RESULTS = [
    path.relative_to(HERE).with_suffix("").as_posix() for path in HERE.glob("results/**/*.md")
]

html_theme = "pydata_sphinx_theme"
html_title = "inlier"
html_sidebars = {page: [] for page in ("index", "start")}
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_show_copyright = False
html_theme_options = {
    "navbar_align": "left",
    "header_links_before_dropdown": 7,
    "show_toc_level": 2,
    "navigation_with_keys": False,
    # Tables of results need the room.
    "secondary_sidebar_items": {"**": ["page-toc"], **{page: [] for page in ("index", *RESULTS)}},
    "footer_start": [],
    "footer_end": [],
}


def link_gallery(app, docname, source):
    """Lead from a page to the gallery, where in the repository it leads to the example."""
    source[0] = re.sub(r"\(\.\./examples/(plot_\w+)\.py\)", r"(/gallery/\1.rst)", source[0])


def skip_inherited(app, what, name, obj, skip, options):
    """Leave out methods that come from scikit-learn or PyOD: they are documented there."""
    home = getattr(getattr(obj, "fget", obj), "__module__", None)
    return True if isinstance(home, str) and not home.startswith("inlier") else None


def setup(app):
    """Connect what a page needs on the site alone."""
    app.connect("source-read", link_gallery)
    app.connect("autodoc-skip-member", skip_inherited)


# -- Reference ------------------------------------------------------------------------------------

autosummary_generate = True
autodoc_typehints = "none"  # numpydoc's parameters say it in words
autodoc_member_order = "bysource"
numpydoc_show_class_members = False  # the template lists them
numpydoc_validation_checks = {
    "all",
    # Sections that a docstring may go without, and what ruff looks at already.
    "ES01", "EX01", "RT01", "SA01", "SA04", "GL01", "GL02", "GL08",
}  # fmt: skip
# What users are given, and do not make: the fields stand under Attributes.
RECORDS = (
    "Aggregate", "Certificate", "Comparison", "Explanation", "Group", "GroupedResult", "Method",
    "PrintedTable", "Record", "RobustMeanResult", "Sample", "Solution",
)  # fmt: skip
# Methods and models of research document what they share once, in their base classes.
numpydoc_validation_exclude = {r"^inlier\.research\.", *(rf"\.{name}$" for name in RECORDS)}

# -- Gallery --------------------------------------------------------------------------------------

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "ignore_pattern": r"(^|/)(assume|demo|flower_simulation)\.py$",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "min_reported_time": 1e9,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    "image_srcset": ["2x"],
    "thumbnail_size": (560, 340),
    "within_subsection_order": "FileNameSortKey",
}
