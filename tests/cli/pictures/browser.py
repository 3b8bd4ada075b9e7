"""A real browser, headless: it opens files, and tells what it did and what it shows."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run "
    "--disable-background-networking --disable-component-update --disable-sync"
)
CONTRAST = """
const solid = node => {
  for (; node; node = node.parentElement) {
    const colour = getComputedStyle(node).backgroundColor;
    if (!/, 0\\)$/.test(colour) && colour !== "transparent") return colour;
  }
  return "rgb(255, 255, 255)";
};
const found = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const node = walker.currentNode, parent = node.parentElement;
  if (node.data.trim() && parent.checkVisibility())
    found.push([node.data.trim().slice(0, 40), getComputedStyle(parent).color, solid(parent)]);
}
return found;
"""
OVERLAPS = """
const texts = [...document.querySelectorAll("text")];
const boxes = texts.map(t => [t.textContent, t.getBoundingClientRect()]);
const page = document.documentElement.getBoundingClientRect(), bad = [];
boxes.forEach(([a, p], i) => {
  if (p.left < page.left || p.right > page.right || p.bottom > page.bottom) bad.push(a);
  for (const [b, q] of boxes.slice(i + 1)) {
    const across = Math.min(p.right, q.right) - Math.max(p.left, q.left);
    const down = Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top);
    if (across > 1 && down > 3) bad.push(`${a} / ${b}`);
  }
});
return bad;
"""


class Browser:
    """One browser, and what it noted since it opened a file."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver

    def open(self, file: Path, *, scheme: str = "light", width: int = 1_000) -> None:
        """Show a file in this colour scheme and width."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self._command("Emulation.setEmulatedMedia", features=features)
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        self._command("Emulation.setDeviceMetricsOverride", **size)
        self.driver.get_log("performance")
        self.driver.get_log("browser")
        self.driver.get(file.resolve().as_uri())

    def requests(self) -> list[str]:
        """What it asked for since then, the file itself included."""
        events = [json.loads(e["message"])["message"] for e in self.driver.get_log("performance")]
        sent = [e["params"] for e in events if e["method"] == "Network.requestWillBeSent"]
        return [str(params["request"]["url"]) for params in sent]

    def complaints(self) -> list[str]:
        """What stands in its console: errors, and what the page's policy has stopped."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def script(self, text: str) -> Any:
        """What a script of the test's returns."""
        return self.driver.execute_script(text)

    def press(self, *keys: str) -> None:
        """Keys, as a person without a mouse presses them."""
        from selenium.webdriver.common.action_chains import ActionChains

        ActionChains(self.driver).send_keys(*keys).perform()

    def contrasts(self) -> list[tuple[float, str]]:
        """Of every text that is seen: how far it stands out from what is behind it."""
        return [(ratio(a, b), text) for text, a, b in self.script(CONTRAST)]

    def _command(self, name: str, **arguments: Any) -> None:
        self.driver.execute_cdp_cmd(name, arguments)


def ratio(one: str, other: str) -> float:
    """The contrast of two colours, as WCAG counts it: 1 to 21."""
    lighter, darker = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: str) -> float:
    parts = [int(part) / 255 for part in colour[4:-1].split(",")]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@contextmanager
def running(folder: Path) -> Iterator[Browser]:
    """A browser; without one the test is skipped, but not where `CI` says that all must run."""
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    service = shutil.which("chromedriver")
    if program is None or service is None:
        missing = f"needs chromedriver and one of {', '.join(BROWSERS)}"
        pytest.fail(missing) if os.environ.get("CI") == "true" else pytest.skip(missing)
    from selenium.webdriver import Chrome, ChromeOptions
    from selenium.webdriver.chrome.service import Service

    options = ChromeOptions()
    options.binary_location = program
    for flag in (*FLAGS.split(), f"--user-data-dir={folder}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = Chrome(options=options, service=Service(service))
    try:
        yield Browser(driver)
    finally:
        driver.quit()
