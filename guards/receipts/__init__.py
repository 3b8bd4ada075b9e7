"""Receipts: what was decided, kept so that nobody can change it unseen.

- `receipt.py`: one verdict as plain data.
- `past.py`: what went before a call, so that it can be decided again.
- `spelling.py`: a receipt as text.
- `chain.py`: the lines of a log, each bound to the one before and signed; `verify`.
- `keys.py`: who signs, and who can check it.
- `stores.py`: where lines are kept: a file, SQLite, anything with one method.
- `log.py`: `ReceiptLog`, which doors write to.
"""
