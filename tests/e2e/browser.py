"""Chromium for the tests of pages: driven by chromedriver's WebDriver HTTP interface, with Python's
library alone."""
import base64
import json
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
KEYS = {
    "Enter": "\ue007",
    "Escape": "\ue00c",
    "Tab": "\ue004",
    "Left": "\ue012",
    "Up": "\ue013",
    "Right": "\ue014",
    "Down": "\ue015",
}


def installed():
    return shutil.which("chromium") and shutil.which("chromedriver")


class Browser:
    """One window. Use it in a `with`."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="cobra-browser-")
        self.driver = subprocess.Popen(
            ["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        port = None
        for line in self.driver.stdout:
            if "successfully on port" in line:
                port = line.rsplit(None, 1)[1].rstrip(".")
                break
        if port is None:
            raise RuntimeError("chromedriver did not start")
        self.url = f"http://127.0.0.1:{port}/session"
        options = {
            "args": [
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--force-color-profile=srgb",
            ],
            "binary": shutil.which("chromium"),
        }
        options["args"].append("--user-data-dir=" + self.folder.name)
        capabilities = {
            "browserName": "chrome",
            "goog:chromeOptions": options,
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
        }
        answer = self.call("POST", "", {"capabilities": {"alwaysMatch": capabilities}})
        self.url += "/" + answer["sessionId"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.call("DELETE", "")
        except OSError:
            pass  # it is gone already
        self.driver.terminate()
        self.driver.wait(30)
        self.driver.stdout.close()
        self.folder.cleanup()

    def call(self, method, path, body=None):
        data = None if method != "POST" else json.dumps(body or {}).encode()
        request = urllib.request.Request(self.url + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=120) as reply:
                return json.load(reply)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(json.load(error)["value"]["message"]) from error

    def open(self, url):
        """Seconds until the page is drawn: a frame after its scripts have run."""
        before = time.monotonic()
        self.call("POST", "/url", {"url": url})
        self.wait_for_frame()
        return time.monotonic() - before

    def cpu_seconds(self):
        """Of the page's main thread since it was opened: scripts, layout and all."""
        self.cdp("Performance.enable", timeDomain="threadTicks")
        metrics = {metric["name"]: metric["value"] for metric in self.cdp("Performance.getMetrics")["metrics"]}
        return metrics["TaskDuration"]

    def wait_for_frame(self):
        script = "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done(true)));"
        self.call("POST", "/execute/async", {"script": script, "args": []})

    def run(self, script, *arguments):
        """The value of a script's `return`."""
        return self.call("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def cdp(self, command, **parameters):
        return self.call("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def find(self, selector):
        return self.call("POST", "/element", {"using": "css selector", "value": selector})[ELEMENT]

    def click(self, selector):
        """As a user does: fails if something else lies above the element."""
        element = self.find(selector)
        self.run("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", {ELEMENT: element})
        self.call("POST", f"/element/{element}/click")

    def type(self, selector, text):
        self.call("POST", f"/element/{self.find(selector)}/value", {"text": text})

    def press(self, *keys):
        """Keys for whatever has the focus."""
        actions = [{"type": kind, "value": KEYS.get(key, key)} for key in keys for kind in ("keyDown", "keyUp")]
        self.call("POST", "/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})

    def size(self, width, height):
        self.cdp("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.wait_for_frame()

    def media(self, scheme, medium=""):
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.cdp("Emulation.setEmulatedMedia", media=medium, features=features)
        self.wait_for_frame()

    def screenshot(self, path):
        """Of the whole page."""
        shot = self.cdp("Page.captureScreenshot", format="png", captureBeyondViewport=True)
        with open(path, "wb") as file:
            file.write(base64.b64decode(shot["data"]))

    def pdf(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("POST", "/print", {})))

    def console(self):
        """What the page wrote to its console since the last call, errors of its policy among it."""
        return self.call("POST", "/se/log", {"type": "browser"})

    def requests(self):
        """Addresses that were asked for since the last call."""
        found = []
        for entry in self.call("POST", "/se/log", {"type": "performance"}):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                found.append(message["params"]["request"]["url"])
        return found


class Shared:
    """A mixin of test cases: one browser for all tests of a class, in cls.browser."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.browser = Browser()
        cls.browser.open("about:blank")
        cls.browser.size(1280, 900)
        cls.browser.requests()

    @classmethod
    def tearDownClass(cls):
        cls.browser.__exit__()
        super().tearDownClass()
