"""Anchors of translated pages.

A page without a translation links to the anchors of English pages, such as `index.md#install`. In the
Chinese copy that page may be translated, with the heading 安装: it gets the English anchor in addition to its
own. The headings of a translation must therefore be those of its original, in the same order.
"""

import re
from collections.abc import Iterator

from pymdownx.slugs import slugify

_LINE = re.compile(
    r"^(?P<fence> *(?:`{3,}|~{3,})).*?^(?P=fence)$|^\#{2,6} (?P<heading>[^\n]+)$", re.MULTILINE | re.DOTALL
)
_MARKUP = re.compile(r"\]\([^)]*\)|[`*\[]")
_make_slug = slugify(case="lower")


def keep_anchors(text: str, original: str) -> str:
    """Return a translation whose headings also have the anchors of the original's."""
    wanted = [make_anchor(heading["heading"]) for heading in find_headings(original)]
    headings = list(find_headings(text))
    if len(wanted) != len(headings):
        return text
    for heading, anchor in zip(reversed(headings), reversed(wanted), strict=True):
        if anchor != make_anchor(heading["heading"]):
            start = heading.start()
            text = f'{text[:start]}<a id="{anchor}"></a>\n\n{text[start:]}'
    return text


def find_headings(text: str) -> Iterator[re.Match[str]]:
    """Return the headings below the title, with their text as `heading`; those in code are none."""
    return (line for line in _LINE.finditer(text) if line["heading"])


def make_anchor(heading: str) -> str:
    """Return the anchor of a heading, as the site and the forge make it."""
    return _make_slug(_MARKUP.sub("", heading), "-")
