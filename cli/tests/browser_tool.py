"""Starts headless Chromium for tests of pages."""

import contextlib
import os

import pytest


@contextlib.contextmanager
def chromium():
    """Yields a driver, whose log has what pages print to the console. Without Chromium or selenium, the test is skipped."""
    try:
        from selenium import webdriver
        from selenium.webdriver.chrome.service import Service
        missing = [path for path in ("/usr/bin/chromium", "/usr/bin/chromedriver") if not os.path.exists(path)]
    except ImportError:
        missing = ["selenium"]
    if missing:
        pytest.skip("no %s (scripts/lib/setup.sh, group browser)" % missing[0])
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1280,900"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
    try:
        yield driver
    finally:
        driver.quit()


def wait_until(browser, script, seconds=30):
    """Returns the first value of the script that counts as true."""
    from selenium.webdriver.support.ui import WebDriverWait
    return WebDriverWait(browser, seconds, 0.05).until(lambda _: browser.execute_script(script))
