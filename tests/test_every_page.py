"""Every page in a real browser with the network closed: quiet, as wide as the screen, and accessible by axe's rules."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe
from live import closed_network, open_page
from playwright.sync_api import Browser, Page


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_every_page_is_quiet_fits_and_is_accessible(
    browser: Browser, addresses: list[str], scheme: str, width: int
) -> None:
    troubles: list[str] = []
    options = {"color_scheme": scheme, "viewport": {"width": width, "height": 900}, "reduced_motion": "reduce"}
    with closed_network(browser, troubles, **options) as context:
        for address in addresses:
            page = open_page(context, address)
            name = address.rpartition("/")[2]
            assert page.evaluate("document.documentElement.dataset.theme") == scheme, name
            if page.locator(".widget-failed").count():
                troubles.append(f"{name}: a widget failed")
            too_wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
            if too_wide > 0:
                troubles.append(f"{name}: {too_wide} px wider than the screen")
            troubles += [f"{name}: {violation}" for violation in violations(page)]
            page.close()
    assert troubles == [], "\n".join(troubles)


def violations(page: Page) -> list[str]:
    """What axe finds, of any impact."""
    options = {"preload": False, "resultTypes": ["violations"]}  # preload asks for style sheets at wrong addresses
    found = Axe().run(page, options=options).response["violations"]
    return [f"{one['id']} ({one['impact']}) at {[node['target'] for node in one['nodes']][:3]}" for one in found]
