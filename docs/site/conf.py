"""Settings of Sphinx for the site; `stage.py` lays its pages out."""

import re

import sojourn

project = "Sojourn"
author = "The Sojourn developers"
copyright = "the Sojourn developers"  # noqa: A001 - the name that Sphinx reads
version = release = sojourn.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["static"]

# Markdown as it is read elsewhere: anchors of headings as links have them, no smart quotes.
myst_heading_anchors = 5
myst_enable_extensions = ["deflist"]
smartquotes = False
# Blocks in Rust leave parts out; pages of facts begin with headings of the third level.
suppress_warnings = ["misc.highlighting_failure", "myst.header"]

autodoc_typehints = "signature"
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
napoleon_google_docstring = True
napoleon_use_rtype = False
python_use_unqualified_type_names = True
maximum_signature_line_length = 80

html_theme = "furo"
html_title = "Sojourn"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_js_files = [("versions.js", {"defer": "defer"})]
html_copy_source = False
html_favicon = "static/icon.svg"
html_show_sourcelink = False
html_theme_options = {"navigation_with_keys": True, "top_of_page_buttons": []}
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"


def setup(app):
    """Let a word of a scenario that ends with an underscore be a word, not a link."""
    app.connect("autodoc-process-docstring", _escape)
    # After the theme has filled in its parts.
    app.connect("html-page-context", _accessible, priority=900)


def _escape(_app, _what, name, _object, _options, lines):
    if name.startswith("sojourn.scenario"):
        lines[:] = [re.sub(r"(?<=\w)_(?!\w)", r"\\_", line) for line in lines]


def _accessible(_app, _page, _template, context, _doctree):
    """Parts that scroll get the keyboard's focus, captions of the navigation a level."""
    for name, old, new in (
        ("body", "<pre>", '<pre tabindex="0">'),
        ("body", "<p><img", '<p tabindex="0"><img'),
        ("body", '<div class="table-wrapper', '<div tabindex="0" class="table-wrapper'),
        ("furo_navigation_tree", ' role="heading"', ' role="heading" aria-level="2"'),
    ):
        if context.get(name):
            context[name] = context[name].replace(old, new)
