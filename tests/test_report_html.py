"""The report's page in a real browser, Chromium: what people see, click and press."""

import io
import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from gpuops.regress.html import graphics, write_folder, write_page
from gpuops.regress.html.graphics import palette
from gpuops.regress.outcome import Limit, Outcome, Run

from .choices import each
from .reference.suite import BLOCK, MARKUP, Suite, small

webdriver = pytest.importorskip("selenium.webdriver", reason="needs the extra test-all")
from selenium.webdriver.chrome.service import Service  # noqa: E402
from selenium.webdriver.common.action_chains import ActionChains  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402

BROWSER, DRIVER = "/usr/bin/chromium", "/usr/bin/chromedriver"
pytestmark = [
    pytest.mark.exhaustive,
    pytest.mark.skipif(
        not (os.access(BROWSER, os.X_OK) and os.access(DRIVER, os.X_OK)),
        reason="needs Debian's packages chromium and chromium-driver",
    ),
]

# What rounding of colours on their way to a screenshot may change.
LEVELS = 2
# Seconds for the browser to do what it is asked; no test takes this long unless it fails.
PATIENCE = 120


class Page:
    """A page in the browser."""

    def __init__(self, driver: Any, path: Path) -> None:
        self.driver, self.path = driver, path

    def open(self, address: str = "open=") -> "Page":
        """Loads the page anew, with what follows its #."""
        self.driver.get("about:blank")
        self.driver.get(f"{self.path.as_uri()}{'#' if address else ''}{address}")
        return self

    def __call__(self, script: str, *args: Any) -> Any:
        return self.driver.execute_script(script, *args)

    def until(self, script: str) -> None:
        """Waits for an expression to be true."""
        end = time.monotonic() + PATIENCE
        while not self(f"return Boolean({script})"):
            assert time.monotonic() < end, f"never came true: {script}"
            time.sleep(0.02)

    def case(self, name: str, view: str = "side") -> "Page":
        """Opens a case by its row."""
        self.open(f"view={view}")
        self(f"go(CASES.find((item) => item.name === {json.dumps(name)}))")
        self.until(f"viewer.any && viewer.view === {json.dumps(view)} && viewer.zoom")
        return self

    def find(self, selector: str) -> Any:
        return self.driver.find_element("css selector", selector)

    def all(self, selector: str) -> list[Any]:
        return list(self.driver.find_elements("css selector", selector))

    def press(self, *keys: str) -> None:
        ActionChains(self.driver).send_keys(*keys).perform()

    def set(self, control: str, value: float) -> None:
        """Sets a range as a person does, who causes input events."""
        self(
            "const range = find(arguments[0]); range.value = arguments[1];"
            "range.dispatchEvent(new Event('input', { bubbles: true }));",
            control,
            value,
        )

    def picture(self, canvas: str = "left") -> NDArray[np.uint8]:
        """What a canvas looks like on the screen, RGB."""
        data = self.find(f"#{canvas}").screenshot_as_png
        return np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))

    def colour(self, x: int, y: int, canvas: str = "left") -> NDArray[np.int64]:
        """The colour at the middle of a pixel of the picture."""
        at = self(
            "const c = find(arguments[2]); return [(arguments[0] + 0.5 - viewer.x) * viewer.zoom + c.clientWidth / 2,"
            "(arguments[1] + 0.5 - viewer.y) * viewer.zoom + c.clientHeight / 2]",
            x, y, canvas,
        )  # fmt: skip
        return self.picture(canvas)[int(at[1]), int(at[0])].astype(np.int64)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    for flag in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--force-color-profile=srgb"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Suite, Run, Path]:
    folder = tmp_path_factory.mktemp("suite")
    suite, run = small(folder)
    write_page(folder / "report.html", run)
    return suite, run, folder / "report.html"


@pytest.fixture
def page(browser: Any, made: tuple[Suite, Run, Path]) -> Iterator[Page]:
    """The small suite's page. It has to leave no errors in the console, and to ask for nothing but itself."""
    resize(browser, 1400, 1000)
    browser.get("about:blank")
    browser.get_log("browser"), browser.get_log("performance")
    page = Page(browser, made[2])
    yield page.open()
    assert browser.get_log("browser") == []
    events = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    asked = [e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"]
    pages = {made[2].as_uri(), page.path.as_uri()}
    assert {url.partition("#")[0] for url in asked if not url.startswith("data:")} <= pages


def resize(browser: Any, width: int, height: int) -> None:
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


def prefer(browser: Any, **features: str) -> None:
    """Sets what the system of the person says they prefer."""
    values = [{"name": name.replace("_", "-"), "value": value} for name, value in features.items()]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": values})


def pair(made: tuple[Suite, Run, Path], name: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """Reference and result."""
    return made[0].pictures[name]


INSIDE, OUTSIDE = (BLOCK[1].start + 4, BLOCK[0].start + 4), (2, 30)


def test_filters_count_and_stand_in_the_address(page, made) -> None:
    total = len(made[1].outcomes)
    assert page.find("#count").text == f"{total} cases"
    assert len(page.all("#rows li")) == 100 and page.find("#place").text == "1 to 100"
    page.find("#later").click()
    assert len(page.all("#rows li")) == total - 100 and page("return location.hash") == "#from=100"
    page.find('[data-status="failed"]').click()
    failed = made[1].totals["failed"]
    assert page.find("#count").text == f"{failed} of {total} cases" and len(page.all("#rows li")) == failed
    page.find('[data-status="warned"]').click()
    assert page("return location.hash") == "#status=failed%2Cwarned"
    page.find("#text").send_keys("DEPTH/")
    assert len(page.all("#rows li")) == 5
    page("const tag = find('tag'); tag.value = 'hdr'; tag.dispatchEvent(new Event('change'))")
    assert [row.text for row in page.all("#rows .name")] == ["depth/half.exr", "depth/single.exr"]
    assert page("return location.hash") == "#status=failed%2Cwarned&tag=hdr&text=DEPTH%2F"
    page.find('[data-status="warned"]').click()
    assert page.find('[data-status="failed"]').get_attribute("aria-pressed") == "true"
    assert page.find('[data-status="warned"]').get_attribute("aria-pressed") == "false"


def test_the_address_gives_all_back(page) -> None:
    page.open("status=failed&tag=hdr&text=single&open=depth%2Fsingle.exr&view=heat")
    page.until("viewer.view === 'heat'")
    assert [row.text for row in page.all("#rows .name")] == ["depth/single.exr"]
    assert page.find("#text").get_attribute("value") == "single"
    assert page.find("#rows [aria-current]").text.startswith("depth/single.exr")
    assert page.find('[data-view="heat"]').get_attribute("aria-pressed") == "true"
    page.open("status=nonsense&tag=none&view=hologram&open=nothing&from=-7")
    assert len(page.all("#rows li")) == 100 and page.find("#overview").is_displayed()


def test_the_page_opens_at_the_first_failure(page) -> None:
    page.open("")
    first = page("return CASES.find((item) => item.status === 'failed').name")
    assert page.find("#name bdi").text == first and page.find("#case").is_displayed()
    page.press("\ue00c")  # Escape
    assert page.find("#overview").is_displayed() and page("return location.hash") == "#open="


@pytest.mark.parametrize(("worst", "others"), [
    (("failed", 0.4), [("failed", 0.2), ("failed", 0.3), ("error", 0), ("new", 0), ("equal", 0)]),
    (("size", 0), [("error", 0), ("new", 0), ("warned", 0)]), (("error", 0), [("warned", 0.9), ("new", 0)]),
    (("warned", 0.4), [("new", 0), ("warned", 0.3), ("equal", 0)]), (("new", 0), [("passed", 0), ("equal", 0)]),
    (("", 0), [("passed", 0), ("equal", 0), ("skipped", 0)]),
])  # fmt: skip
def test_the_page_opens_at_the_worst_case(page, tmp_path, worst, others) -> None:
    """Whatever the order of the run; keys go on from there."""
    outcomes = [
        Outcome(f"{status}-{flip}", status, missed=(Limit("max-flip", flip, 0.1),) if flip else ())
        for status, flip in (*others, worst)
        if status
    ]
    write_page(tmp_path / "report.html", Run(outcomes))
    page.path = tmp_path / "report.html"
    page.open("")
    if not worst[0]:
        assert page.find("#overview").is_displayed()
        return
    assert page.find("#name bdi").text == f"{worst[0]}-{worst[1]}"
    assert page.find("#rows [aria-current] .name").text == f"{worst[0]}-{worst[1]}"
    page.press("j")
    after = page(
        "return listed[listed.indexOf(CASES.find((item) => item.name === arguments[0])) + 1].name",
        "-".join(map(str, worst)),
    )
    assert page.find("#name bdi").text == after


def test_names_with_markup_are_text(page) -> None:
    assert page.find("#rows .name").text == MARKUP
    page.find("#rows button").click()
    page.until("viewer.any")
    assert MARKUP in page.find("#name").text and MARKUP in page.find("#reason").text
    assert not page.all("#case img") and not page.all("[onerror]")


def test_twenty_thousand_cases_are_a_list_of_a_hundred(page, tmp_path) -> None:
    page.path = tmp_path / "many.html"
    write_page(page.path, Run([Outcome(f"{k:05}.png", "equal") for k in range(20_000)]))
    found = sum("999" in f"{k:05}" for k in range(20_000))
    page.open("text=999").until(f"listed.length === {found}")
    page.open()
    assert page.find("#count").text == "20000 cases" and len(page.all("#rows li")) == 100
    page("go(CASES[19876])")
    assert "19876.png" in page.find("#name").text


def test_pictures_side_by_side_under_a_slider_and_mixed(page, made) -> None:
    reference, result = (part.astype(float) for part in pair(made, "depth/8.png"))
    x, y = INSIDE
    page.case("depth/8.png")
    for at_x, at_y in (INSIDE, OUTSIDE):
        assert page.colour(at_x, at_y, "left") == pytest.approx(reference[at_y, at_x], abs=LEVELS)
        assert page.colour(at_x, at_y, "right") == pytest.approx(result[at_y, at_x], abs=LEVELS)
    page.case("depth/8.png", "slider")
    for place, expected in ((90, reference), (5, result)):
        page.set("amount", place)
        assert page.colour(x, y) == pytest.approx(expected[y, x], abs=LEVELS)
    page.find("#amount").send_keys(Keys.ARROW_RIGHT)  # it is a native range, which has its own keys
    assert page("return viewer.amounts.slider") == 5.5
    page.case("depth/8.png", "onion").set("amount", 25)
    assert page.colour(x, y) == pytest.approx(0.75 * reference[y, x] + 0.25 * result[y, x], abs=LEVELS)


def test_blinking_alternates_at_most_three_times_a_second(page, made) -> None:
    reference, result = pair(made, "depth/8.png")
    page.case("depth/8.png", "blink")
    assert page.find("#amount").get_attribute("max") == "3"
    x, y = INSIDE
    for flipped, expected in ((True, result), (False, reference)):
        page.until(f"viewer.flipped === {json.dumps(flipped)}")  # it comes by itself
        page("clearInterval(viewer.timer)")
        assert page.colour(x, y) == pytest.approx(expected[y, x], abs=LEVELS)
        page("viewer.run()")


def test_less_motion_stops_blinking(page, browser) -> None:
    prefer(browser, prefers_reduced_motion="reduce")
    try:
        page.case("depth/8.png", "blink")
        page(
            "window.flips = 0; const flip = viewer.flip; viewer.flip = function () { flips++; flip.call(this); }"
        )
        time.sleep(1.2)
        assert page("return flips") == 0 and "reduced motion" in page.find("#left-caption").text
        page.press(" ")
        assert page("return flips") == 1 and page.find("#left-caption").text.startswith("Result")
    finally:
        prefer(browser)


def test_differences_have_a_gain(page, made) -> None:
    reference, result = (part.astype(float) for part in pair(made, "depth/8.png"))
    page.case("depth/8.png", "difference")
    x, y = INSIDE
    for exponent in (0, 1):
        page.set("amount", exponent)
        expected = np.abs(result - reference)[y, x] * 2**exponent
        assert page.colour(x, y) == pytest.approx(expected, abs=LEVELS)
    assert page.colour(*OUTSIDE).tolist() == [0, 0, 0]


def test_the_heat_map_has_the_palette_s_colours(page, made) -> None:
    reference, result = (part.astype(float) for part in pair(made, "depth/8.png"))
    apart = np.abs(result - reference).max(axis=2)
    page.case("depth/8.png", "heat")
    x, y = INSIDE
    expected = palette()[int(np.rint(255 * apart[y, x] / apart.max()))]
    assert page.colour(x, y) == pytest.approx(expected, abs=LEVELS)
    assert page.colour(*OUTSIDE).tolist() == [0, 0, 0]
    page.set("amount", 0)
    assert page.colour(*OUTSIDE) == pytest.approx(result[OUTSIDE[1], OUTSIDE[0]], abs=LEVELS)
    assert page.all("#facts .histogram path.mark") and "white 0.2" in page.find("#left-caption").text


@pytest.mark.parametrize("name", ["depth/half.exr", "depth/single.exr"])
def test_light_is_exposed_and_shown_by_sRGB_s_curve(name, page, made) -> None:
    """And what is not a number is magenta; codes have no exposure."""
    result = pair(made, name)[1].astype(float)
    page.case(name)
    assert page.find("#exposure-label").is_displayed()
    x, y = INSIDE
    for exposure in (0, -3, 1):
        page.set("exposure", exposure)
        light = np.clip(result[y, x] * 2.0**exposure, 0, 1)
        expected = 255 * np.where(light <= 0.0031308, 12.92 * light, 1.055 * light ** (1 / 2.4) - 0.055)
        assert page.colour(x, y, "right") == pytest.approx(expected, abs=LEVELS)
    if name == "depth/half.exr":
        assert page.colour(3, 2, "right").tolist() == [255, 0, 255]
        page("viewer.goTo(3, 2)")
        assert "result NaN Inf -1" in page.find("#values").text
    page("go(CASES.find((item) => item.name === 'depth/8.png'))")
    page.until("viewer.name.startsWith('depth/8.png')")
    assert not page.find("#exposure-label").is_displayed() and page("return viewer.exposure") == 0


def test_transparency_is_a_chequerboard(page, made) -> None:
    reference = pair(made, "alpha.png")[0].astype(float)
    page.case("alpha.png")
    for (x, y), behind in (((2, 30), 153), ((10, 30), 102)):
        cover = reference[y, x, 3] / 255
        assert page.colour(x, y) == pytest.approx(
            reference[y, x, :3] * cover + behind * (1 - cover), abs=LEVELS
        )


@each(name=["depth/8.png", "depth/16.png", "depth/half.exr", "depth/single.exr", "alpha.png"])
def test_the_pointer_reads_the_stored_values(name, page, made) -> None:
    page.case(name)
    x, y = INSIDE
    for _ in range(2):
        at = page(
            "return [(arguments[0] + 0.5 - viewer.x) * viewer.zoom, (arguments[1] + 0.5 - viewer.y) * viewer.zoom]",
            x, y,
        )  # fmt: skip
        ActionChains(page.driver).move_to_element_with_offset(page.find("#right"), *map(round, at)).perform()
        spans = [span.text for span in page.all("#values span")]
        assert spans[0] == f"x {x}, y {y}"
        for span, which, pixels in zip(spans[1:], ("reference", "result"), pair(made, name), strict=False):
            assert span.split()[0] == which
            found = np.array(span.split()[1:], np.float64)
            assert found == pytest.approx(pixels[y, x].astype(np.float64), rel=1e-6)
        page.press("+")  # zoomed, it is another place of the canvas, and the same pixel


def test_both_pictures_have_one_zoom_and_one_place(page, made) -> None:
    reference, result = pair(made, "depth/8.png")
    page.case("depth/8.png")
    canvas = page.find("#left")
    before = page("return [viewer.zoom, viewer.x, viewer.y]")
    ActionChains(page.driver).move_to_element(canvas).click_and_hold().move_by_offset(
        40, 24
    ).release().perform()
    assert page("return [viewer.x, viewer.y]") == pytest.approx(
        [before[1] - 40 / before[0], before[2] - 24 / before[0]]
    )
    page("viewer.goTo(...arguments, 40)", *INSIDE)
    x, y = INSIDE[0] + 1, INSIDE[1] + 1
    assert page.colour(x, y, "left") == pytest.approx(reference[y, x], abs=LEVELS)
    assert page.colour(x, y, "right") == pytest.approx(result[y, x], abs=LEVELS)
    page("find('right').dispatchEvent(new WheelEvent('wheel', { deltaY: 100, cancelable: true }))")
    assert page("return viewer.zoom") == pytest.approx(40 / 2**0.5)


def test_large_pixels_show_their_values(page) -> None:
    """Text is drawn in white, which the picture has not."""
    page.case("depth/8.png")

    def white() -> int:
        page("viewer.probe = null; viewer.draw()")
        return int((page.picture("right") == 255).all(axis=2).sum())

    page("viewer.goTo(...arguments, 40)", *INSIDE)
    assert white() == 0
    page(
        "window.texts = []; const draw = CanvasRenderingContext2D.prototype.fillText;"
        "CanvasRenderingContext2D.prototype.fillText = function (...all) { texts.push(all[0]); draw.apply(this, all); }"
    )
    page("viewer.goTo(...arguments, 48)", *INSIDE)
    assert white() > 500
    x, y = INSIDE
    values = page("return valuesAt(viewer.result, ...arguments).split(' ')", x, y)
    texts = page("return texts")
    assert any(texts[k : k + 3] == values for k in range(0, len(texts), 3))


def test_pictures_that_are_not_a_pair(page) -> None:
    for name, caption in (("new.png", "Result"), ("lost.png", "Reference"), ("gone.png", "Reference")):
        page.case(name)
        assert page.find("#left-caption").text == caption and not page.find("#right").is_displayed()
        assert [button.is_enabled() for button in page.all("#views button")] == [True] + [False] * 5
    page("go(CASES.find((item) => item.name === 'moved.png'))")
    assert not page.find("#viewer").is_displayed() and "equals other.png" in page.find("#reason").text


def of_page(pixels: NDArray[Any], *, alpha: bool = False, linear: bool = False) -> dict[str, Any]:
    """A picture as the page's script holds it; JSON has no NaN and infinities, so values are strings."""
    height, width, channels = pixels.shape
    found = {"width": width, "height": height, "channels": channels, "alpha": alpha, "linear": linear}
    found["range"] = int(np.iinfo(pixels.dtype).max) if pixels.dtype.kind == "u" else 1
    return found | {"values": [str(float(v)).replace("inf", "Infinity") for v in pixels.reshape(-1)]}


def test_differences_of_pictures_of_two_kinds(page) -> None:
    """The script's difference, whose expected values are written here by hand."""
    gray = np.array([[[51], [0], [255]]], np.uint8)
    rgb = np.array([[[51, 51, 51], [0, 102, 0], [255, 255, 0]]], np.uint8)
    deep = np.array([[[13107], [65535], [0]]], np.uint16)
    light = np.array([[[((0.2 + 0.055) / 1.055) ** 2.4], [0], [np.nan]]], np.float32)
    clear = np.array([[[51, 255], [0, 204], [255, 0]]], np.uint8)
    odd = np.array([[[np.nan], [np.inf], [-np.inf]]], np.float32)
    cases = [
        (of_page(gray), of_page(rgb), [[0, 0, 0], [0, 102, 0], [0, 0, 255]]),
        (of_page(gray), of_page(deep), [[0] * 3, [255] * 3, [255] * 3]),
        (of_page(gray), of_page(light, linear=True), [[0] * 3, [0] * 3, [255] * 3]),
        (of_page(gray), of_page(clear, alpha=True), [[0] * 3, [51] * 3, [255] * 3]),
        (of_page(odd), of_page(odd), [[0] * 3, [0] * 3, [0] * 3]),
        (of_page(odd), of_page(np.zeros_like(odd)), [[255] * 3, [255] * 3, [255] * 3]),
    ]
    for a, b, expected in cases:
        for pair in ((a, b), (b, a)):
            found = page(
                "const [a, b] = [...arguments].map((p) => ({ ...p, values: p.values.map(Number) }));"
                "return Array.from(difference(a, b, 1).getContext('2d').getImageData(0, 0, a.width, a.height).data)",
                *pair,
            )
            assert np.array(found).reshape(-1, 4)[:, :3].tolist() == expected


def test_everything_by_keyboard(page) -> None:
    page.press("?")
    assert page.find("#help").is_displayed() and "heat map" in page.find("#help").text
    page.press(Keys.ESCAPE)
    assert not page.find("#help").is_displayed()
    page.press("/")
    page.press("depth/8")
    page.press(Keys.ESCAPE, "j")
    page.until("viewer.any")
    assert "depth/8.png" in page.find("#name").text
    for key, view in zip("123456", ("side", "slider", "blink", "onion", "difference", "heat"), strict=True):
        page.press(key)
        assert page("return [viewer.view, state.view]") == [view, view]
    page.press("2", ".", ".", ",")
    assert page("return viewer.amounts.slider") == 50.5
    zoom = page("return viewer.zoom")
    page.press("+", "+", "-")
    assert page("return viewer.zoom") == 2 * zoom
    page.press("0")
    assert page("return viewer.zoom") == zoom
    page.press("z")
    assert page("return viewer.zoom") == 1
    page.press("w")
    assert page("return [viewer.probe.x, viewer.probe.y, viewer.zoom]") == page(
        "return [...viewer.about.worst, 16]"
    )
    page("find('left').focus()")
    before = page("return [viewer.probe.x, viewer.probe.y]")
    page.press(Keys.ARROW_LEFT, Keys.ARROW_UP, Keys.ARROW_UP)
    assert page("return [viewer.probe.x, viewer.probe.y]") == [before[0] - 1, before[1] - 2]
    page.press("x")
    assert page("return [viewer.view, viewer.flipped]") == ["blink", True]
    page.press(Keys.ESCAPE)
    assert page.find("#overview").is_displayed() and "open" not in page("return location.hash")
    page.open("status=failed")
    page.press("j", "j", "k")
    assert page("return opened === listed[0]")


def test_the_focus_goes_through_real_controls(page) -> None:
    page.case("depth/half.exr", "slider")
    page("find('keys').focus()")
    passed = []
    for _ in range(300):
        page.press(Keys.TAB)
        passed.append(
            page("const e = document.activeElement; return [e.tagName, e.id, e.textContent.trim()]")
        )
        if passed[-1][1] == "exchange":
            break
    kinds = {tag for tag, _, _ in passed}
    assert kinds <= {"BUTTON", "CANVAS", "INPUT", "SECTION", "OL"}, kinds  # what scrolls is focused, too
    ids = [name for _, name, _ in passed if name]
    order = ["before", "after", "close", "left", "amount", "exposure", "farther", "exchange"]
    assert [name for name in ids if name in order] == order
    labels = page(
        "return [...document.querySelectorAll('button')].map((b) => b.ariaLabel || b.textContent.trim())"
    )
    assert all(labels)
    label = page.find("#left").get_attribute("aria-label")
    assert "depth/half.exr" in label and "max" in label


@pytest.mark.parametrize("width", [380, 800, 1600])
def test_the_page_fits_three_widths(width, page, browser) -> None:
    resize(browser, width, 900)
    page.open()
    page.until("find('rows').children.length")

    def fits() -> None:
        assert page("return document.documentElement.scrollWidth") <= width
        boxes = page(
            "return [...document.querySelectorAll('button, input, select, canvas')].map((e) => "
            "e.getBoundingClientRect()).filter((b) => b.width).map((b) => [b.left, b.right])"
        )
        assert boxes and all(left >= 0 and right <= width for left, right in boxes)

    fits()
    assert page.find("#list").is_displayed()
    page.find('#rows button[data-number="4"]').click()
    page.until("viewer.any")
    fits()
    assert page.find("#list").is_displayed() == (width > 900)
    for view in page.all("#views button"):
        view.click()
        fits()
    page.find("#close").click()
    assert page.find("#list").is_displayed()


def test_the_scheme_of_the_system(page, browser) -> None:
    try:
        for scheme, dark in (("light", False), ("dark", True)):
            prefer(browser, prefers_color_scheme=scheme)
            colours = page("const s = getComputedStyle(document.body); return [s.backgroundColor, s.color]")
            ground, ink = (sum(map(int, c[4:-1].split(","))) for c in colours)
            assert (ground < ink) == dark and abs(ground - ink) > 400
    finally:
        prefer(browser)


@pytest.fixture
def scriptless(browser: Any) -> Iterator[Callable[[Path], Page]]:
    """Opens pages while scripts are blocked."""
    resize(browser, 1200, 900)
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    yield lambda path: Page(browser, path).open()
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def test_without_scripts_all_can_be_read(scriptless, made) -> None:
    page = scriptless(made[2])
    cases = page.all("#cases details")
    assert len(cases) == len(made[1].outcomes)
    assert not page.find("#filter").is_displayed() and not page.find("#list").is_displayed()
    assert "failed" in page.find(".totals").text and "PoCL <cpu>" in page.find("#overview").text
    assert MARKUP in cases[0].text
    for name in ("depth/8.png", "depth/half.exr"):
        case = next(case for case in cases if case.find_element("css selector", "bdi").text == name)
        images = case.find_elements("css selector", "img")
        assert not any(image.is_displayed() for image in images)
        case.find_element("css selector", "summary").click()
        assert len(images) == 3
        for image in images:
            assert image.is_displayed() and int(image.get_property("naturalWidth")) == 64
        assert f"render {name}" in case.text and "0.01" in case.text


def test_the_folder_in_a_browser(scriptless, made, tmp_path) -> None:
    write_folder(tmp_path, made[1])
    page = scriptless(tmp_path / "index.html")
    page.find('a[href$="#case-3"]').click()
    assert page.driver.current_url.endswith("cases-1.html#case-3")
    images = page.all("img")
    assert len(images) > 15 and all(int(image.get_property("naturalWidth")) == 64 for image in images)
    # The sheet of styles was found: badges have a ground.
    ground = page.find(".status.failed").value_of_css_property("background-color")
    assert ground != "rgba(0, 0, 0, 0)"


def test_the_page_decodes_every_kind_of_png(page, rng) -> None:
    from base64 import b64encode

    smooth = np.add.outer(np.arange(9), np.arange(14))[..., None] * np.arange(1, 5)
    for dtype in (np.uint8, np.uint16):
        noise = rng.integers(0, np.iinfo(dtype).max, (9, 14, 4), dtype, endpoint=True)
        for pixels in (noise, (smooth * (7 if dtype == np.uint8 else 777)).astype(dtype)):
            for channels in (1, 2, 3, 4):
                part = np.ascontiguousarray(pixels[..., :channels])
                found = page.driver.execute_async_script(
                    "const done = arguments[1]; fromPng(bytesOf(arguments[0])).then((p) =>"
                    "done([p.width, p.height, p.channels, p.range, Array.from(p.values)]))",
                    b64encode(graphics.png(part)).decode(),
                )
                assert found[:4] == [14, 9, channels, np.iinfo(dtype).max]
                assert found[4] == part.reshape(-1).tolist()


def test_the_page_decodes_every_half(page) -> None:
    halves = np.arange(65536, dtype=np.uint16).view(np.float16).astype(np.float64)
    found = page("return Array.from({ length: 65536 }, (_, i) => String(half(i)))")
    assert np.array_equal(np.array(found, np.float64), halves, equal_nan=True)


@pytest.mark.parametrize("kind", range(5))
def test_the_page_undoes_every_filter_of_png(kind, page, rng) -> None:
    """The filters by their definition: a byte less what left, above, and corner predict."""
    rows = rng.integers(0, 256, (4, 12), np.uint8).astype(int)
    filtered = []
    for y in range(4):
        filtered.append(kind)
        for x in range(12):
            left = rows[y, x - 3] if x >= 3 else 0
            above = rows[y - 1, x] if y else 0
            corner = rows[y - 1, x - 3] if y and x >= 3 else 0
            guess = left + above - corner
            nearest = min((left, above, corner), key=lambda value: abs(guess - value))
            filtered.append(int(rows[y, x] - [0, left, above, (left + above) // 2, nearest][kind]) % 256)
    found = page("return Array.from(unfiltered(Uint8Array.from(arguments[0]), 4, 12, 3))", filtered)
    assert found == rows.reshape(-1).tolist()
