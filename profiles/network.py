"""What the environment says of the network: no proxy for this machine, certificates that are there.

`HTTP_PROXY` and its like name a way out. A server on this machine is not out there: through a proxy
it is not reached, or another machine's is.
"""

from __future__ import annotations

import os
import ssl
from collections.abc import Callable
from ipaddress import ip_address
from urllib.parse import urlsplit

from ..guards.faults import words_of
from ..policies.problems import ConfigError, Problem

_FILES = ("SSL_CERT_FILE", "SSL_CERT_DIR")


def is_this_machine(url: str) -> bool:
    """Whether the address is one of this machine itself: `localhost`, 127.0.0.1, ::1."""
    host = (urlsplit(url).hostname or "").rstrip(".")
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def certificates(made: Callable[[], ssl.SSLContext]) -> ssl.SSLContext:
    """What certificates are checked by, as `made` makes it.

    Raises:
        ConfigError: the environment names certificates that cannot be read.
    """
    try:
        return made()
    except (OSError, ssl.SSLError) as error:
        named = next((name for name in _FILES if os.environ.get(name)), "")
        if not named:
            raise
        wrong = f"names certificates that cannot be read ({words_of(error)})"
        fix = f"correct {named}, or unset it to use those of the installation"
        raise ConfigError(Problem("environment", named, wrong, fix=fix)) from None
