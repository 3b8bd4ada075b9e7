"""What OpenTelemetry is told: of every decision, and of the agents, models and tools that run.

- `current.py`: on and off, and what doors call; nothing happens while it is off.
- `instruments.py`: the spans' tracer and the metrics' instruments.
- `operation.py`: one span while something runs.
- `timing.py`: how long decisions take.

It needs `opentelemetry-api`, which is loaded where it is switched on, and no sooner. Whatever
fails here is logged once: it changes no decision, and breaks no run.
"""
