"""Replay: recorded calls, with their histories, decided again under another policy.

- `recorded.py`: what a source tells of a thread, step by step.
- `receipts.py`, `messages.py`: the sources: a log of receipts, exported conversations.
- `thread.py`: one thread, moved on step by step under the other policy.
- `flips.py`: which verdicts come out otherwise, the most dangerous first.
"""
