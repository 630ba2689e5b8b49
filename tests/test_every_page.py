"""Every page in a real browser with the network closed: quiet, as wide as the screen, and accessible by axe's rules."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe
from live import closed_network, open_page
from playwright.sync_api import Browser, Page


@pytest.mark.parametrize("width", [1280, 390])
def test_every_page_is_quiet_fits_and_is_accessible(browser: Browser, addresses: list[str], width: int) -> None:
    """In the light, and, as the system's setting changes while the page is open, in the dark."""
    troubles: list[str] = []
    viewport = {"width": width, "height": 900}
    with closed_network(browser, troubles, color_scheme="light", viewport=viewport, reduced_motion="reduce") as context:
        for address in addresses:
            page = open_page(context, address)
            name = address.rpartition("/")[2]
            if page.locator(".widget-failed").count():
                troubles.append(f"{name}: a widget failed")
            for scheme in ("light", "dark"):
                page.emulate_media(color_scheme=scheme)
                page.wait_for_function("(scheme) => document.documentElement.dataset.theme === scheme", arg=scheme)
                too_wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
                if too_wide > 0:
                    troubles.append(f"{name}, {scheme}: {too_wide} px wider than the screen")
                troubles += [f"{name}, {scheme}: {violation}" for violation in violations(page)]
            page.close()
    assert troubles == [], "\n".join(troubles)


def test_a_page_opened_in_the_dark_is_dark_from_the_start(browser: Browser, addresses: list[str]) -> None:
    troubles: list[str] = []
    with closed_network(browser, troubles, color_scheme="dark") as context:
        for address in addresses[::4]:
            assert open_page(context, address).evaluate("document.documentElement.dataset.theme") == "dark", address
    assert troubles == [], "\n".join(troubles)


def violations(page: Page) -> list[str]:
    """What axe finds, of any impact."""
    options = {"preload": False, "resultTypes": ["violations"]}  # preload asks for style sheets at wrong addresses
    found = Axe().run(page, options=options).response["violations"]
    return [f"{one['id']} ({one['impact']}) at {[node['target'] for node in one['nodes']][:3]}" for one in found]
