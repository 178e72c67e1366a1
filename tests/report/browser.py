"""A page of `sweep report` in a real browser that may load nothing, and ways to ask it."""

import json
import shutil
from pathlib import Path

import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=1440,1200",
)


def started(folder: Path):
    """A browser with a fresh profile in a folder; skips where there is none."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="needs selenium (the extra dev)")
    binary = next(filter(None, map(shutil.which, BROWSERS)), None)
    driver = shutil.which("chromedriver")
    if binary is None or driver is None:
        pytest.skip("needs chromium and chromedriver, to open the page as a person would")
    options = webdriver.ChromeOptions()
    options.binary_location = binary
    for flag in (*FLAGS, f"--user-data-dir={folder / 'profile'}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    browser.set_script_timeout(120)
    downloads = {"behavior": "allow", "downloadPath": str(folder)}
    browser.execute_cdp_cmd("Browser.setDownloadBehavior", downloads)
    offline = {"offline": True, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0}
    browser.execute_cdp_cmd("Network.enable", {})
    browser.execute_cdp_cmd("Network.emulateNetworkConditions", offline)
    return browser


class Page:
    """An open page; `run` is JavaScript with `report` as the page's own interface."""

    def __init__(self, browser, path: Path, fragment: str = "") -> None:
        self.browser = browser
        browser.get("about:blank")
        self.logs(), self.requested()  # of whatever was open before
        browser.get(f"{path.as_uri()}{'#' if fragment else ''}{fragment}")
        self.settled()

    def run(self, script: str, *arguments):
        return self.browser.execute_script(f"const report = window.sweepReport; {script}", *arguments)

    def settled(self) -> None:
        """Wait until nothing is being computed."""
        self.browser.execute_async_script("window.sweepReport.ready().then(arguments[0])")

    def show(self, fragment: str) -> None:
        self.run("report.show(arguments[0])", fragment)
        self.settled()

    def typed(self, selector: str, value: str, event: str) -> None:
        """Give a field a value as a person does: the page hears of it by its event."""
        script = """const field = document.querySelector(arguments[0]); field.value = arguments[1];
            field.dispatchEvent(new Event(arguments[2], { bubbles: true }));"""
        self.browser.execute_script(script, selector, value, event)
        self.settled()

    def csv(self) -> str:
        return self.run("return report.region().csv")

    def best(self):
        return self.run("return report.best()")

    def text(self, selector: str) -> str:
        return self.run("return document.querySelector(arguments[0]).textContent", selector)

    def logs(self) -> list[str]:
        """What the console said since the last call."""
        return [entry["message"] for entry in self.browser.get_log("browser")]

    def requested(self) -> list[str]:
        """Every address that was asked for since the last call."""
        entries = [json.loads(entry["message"])["message"] for entry in self.browser.get_log("performance")]
        sent = [one["params"]["request"]["url"] for one in entries if one["method"] == "Network.requestWillBeSent"]
        return [url for url in sent if not url.startswith(("data:", "about:"))]
