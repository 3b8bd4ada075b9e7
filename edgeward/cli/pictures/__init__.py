"""What people look at: a strategy drawn in several formats, and a run as one HTML page.

- `drawing.py`: a strategy as boxes and arrows, and as JSON; `layout.py`: where they lie;
  `ascii.py`, `svg.py`, `png.py` and `mermaid.py` draw them.
- `story.py`: a run as steps and calls; `of_log.py` and `of_thread.py` read it.
- `page.py`: the page of a story; `calls.py`: one call of it; `writing.py`: text that anybody may
  have written, as HTML.
"""
