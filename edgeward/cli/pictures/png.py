"""A strategy as PNG, made of its SVG by resvg, without a browser."""

from __future__ import annotations

from ...extras import MissingExtra
from .svg import FONTS

SCALE = 2.0
"""Pixels of the picture for each of the SVG's."""
_PROBE = '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20">%s</svg>'
_LETTER = f'<text x="2" y="16" style="font: 16px {FONTS}">M</text>'


def as_png(svg: str) -> bytes:
    """The picture.

    Raises:
        MissingExtra: the extra `pictures` is not installed. ValueError: there is no font.
    """
    try:
        from resvg_py import svg_to_bytes
    except ImportError:
        raise MissingExtra("a PNG needs an extra: pip install 'edgeward[pictures]'") from None
    if svg_to_bytes(svg_string=_PROBE % "") == svg_to_bytes(svg_string=_PROBE % _LETTER):
        raise ValueError(
            "a PNG needs a font, and this system has none: install one (fonts-dejavu-core, say), "
            "or write an SVG"
        )
    return bytes(svg_to_bytes(svg_string=svg, zoom=SCALE))
