"""A Markdown table of numbers, with their sum and mean."""

import sys

numbers = [float(text) for text in sys.argv[1:]]
rows = [f"| {at} | {number:g} |" for at, number in enumerate(numbers, start=1)]
mean = sum(numbers) / len(numbers) if numbers else 0
total = [f"| sum | {sum(numbers):g} |", f"| mean | {mean:g} |"]
print("\n".join(["| # | value |", "|---|---|", *rows, *total]))
