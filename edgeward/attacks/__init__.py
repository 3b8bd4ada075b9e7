"""The replay: what a policy stops when the model obeys every injection, and what it costs.

No model and no network. The user's tasks are played against real tools with the calls that solve
them; once a tool's output has carried an attacker's text, the attacker's calls are played, too.
`edgeward attack` prints the figures. AgentDojo's suites come with the extra `attacks`.
"""

from pathlib import Path

SHIPPED = Path(__file__).parent / "policies"
"""The policies for AgentDojo's suites: one `SUITE.yaml` each."""
