"""What is in the workshop."""

STOCK = {"rotor": 12, "frame": 3, "battery": 5}


def count_parts(part: str) -> str:
    """Count the parts of one kind that are in stock.

    Args:
        part: rotor, frame or battery.
    """
    return f"{STOCK.get(part.strip().lower(), 0)} x {part}"
