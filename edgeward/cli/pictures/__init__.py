"""What people look at: a strategy drawn in several formats, and a run as one HTML page.

- `drawing.py`: a strategy as boxes and arrows, and as JSON.
- `layout.py`: where boxes and arrows lie; `ascii.py`, `svg.py`, `png.py`, `mermaid.py` draw them.
"""
