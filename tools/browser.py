"""An installed Chromium, Chrome or Edge for the browser tests; and how a machine without one gets it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

NAMES = (
    "chromium-headless-shell",  # a browser less its window: a page costs a sixth less
    *("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "microsoft-edge", "msedge", "chrome"),
)
ELSEWHERE = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
    r"C:\Program Files\Google\Chrome\Application\chrome.exe",
    r"C:\Program Files (x86)\Microsoft\Edge\Application\msedge.exe",
)

# Each window's address bar starts two pages of its own, as dear as one of the book. (Who starts a browser has a switch
# of this name too, and the last one counts: so what of those is about pages is said again.)
NO_PAGES_OF_ITS_OWN = (
    "--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup,"
    "HttpsUpgrades,MediaRouter,OptimizationHints,PaintHolding,ThirdPartyStoragePartitioning,Translate"
)


def find_browser() -> str | None:
    """The path of an installed browser, or of the one that Playwright downloaded before."""
    for name in NAMES:
        if path := shutil.which(name):
            return path
    for path in ELSEWHERE:
        if Path(path).exists():
            return path
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        own = playwright.chromium.executable_path
    return own if Path(own).exists() else None


def get_browser() -> str | None:
    """As `find_browser`; where there is none, Debian's package as root, else Playwright's own download."""
    if (found := find_browser()) is not None:
        return found
    if shutil.which("apt-get") and hasattr(os, "geteuid") and os.geteuid() == 0:
        for command in (["apt-get", "update", "-qq"], ["apt-get", "install", "-y", "-qq", NAMES[0]]):
            subprocess.run(command, capture_output=True, check=False)
    if find_browser() is None:
        subprocess.run([sys.executable, "-m", "playwright", "install", "chromium"], capture_output=True, check=False)
    return find_browser()
