"""The game in Chromium: played by keyboard, compared with ONNX Runtime, reproducible, and playable without WebGPU."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime as ort
import pytest
from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from tests.e2e import terrain_world as world
from tests.e2e.conftest import ROOT, Exported
from webinfer.devices import browser_path, find_device

SMALL = "quality=low&size=480x270"
READY = "window.game?.ready || window.game?.faults.length > 0"
# Without WebGPU: what WebGL 2 needs on a CPU.
WEBGL_FLAGS = ["--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"]


@pytest.fixture(scope="module")
def launch() -> Iterator[Callable[[Sequence[str]], Browser]]:
    """`launch(flags)`: headless Chromium, closed at the end of the module."""
    with sync_playwright() as playwright:
        browsers: list[Browser] = []

        def start(flags: Sequence[str]) -> Browser:
            args = ["--no-sandbox", "--disable-background-networking", *flags]
            browsers.append(playwright.chromium.launch(executable_path=browser_path("chromium"), args=args))
            return browsers[-1]

        yield start
        for browser in browsers:
            browser.close()


@pytest.fixture(scope="module")
def chromium(launch: Callable[[Sequence[str]], Browser]) -> Browser:
    """With WebGPU on SwiftShader."""
    return launch(find_device("chromium-swiftshader").flags)


@pytest.fixture(scope="module")
def package(exported: Callable[[str, str], Exported]) -> Exported:
    """In fp32, which compares with ONNX Runtime to a few units in the last place."""
    return exported("terrain", "fp32")


@pytest.fixture(scope="module")
def address(package: Exported) -> Iterator[str]:
    """The game, served as `make demo` serves it."""
    spec = importlib.util.spec_from_file_location("demo", ROOT / "demo_game" / "demo.py")
    assert spec is not None
    assert spec.loader is not None
    demo = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(demo)
    with demo.serving(package.folder) as url:
        yield url


def opened(browser: Browser, url: str) -> tuple[Page, list[str]]:
    """A page of the game once its first land is there, and the list into which the browser's errors go."""
    page = browser.new_page(viewport={"width": 640, "height": 360})
    page.set_default_timeout(240_000)
    errors: list[str] = []
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(url)
    page.wait_for_function(READY)
    assert page.evaluate("game.faults") == []
    return page, errors


def by_reference(package: Exported, seed: int, tiles: list[dict[str, Any]]) -> dict[tuple[int, int], Any]:
    """ONNX Runtime's output for tiles, on the noise that Python makes of the seed."""
    options = ort.SessionOptions()
    options.log_severity_level = 3
    session = ort.InferenceSession(str(package.source), options)
    outputs = {}
    for tile in tiles:
        feeds = {
            "noisy": world.noise(seed, tile["i"], tile["j"]),
            "sigma": np.array([world.SIGMA], dtype=np.float32),
            "difficulty": np.array([tile["difficulty"]], dtype=np.float32),
        }
        outputs[tile["i"], tile["j"]] = session.run(None, feeds)[0][0, 0]
    return outputs


def check_tiles(package: Exported, seed: int, tiles: list[dict[str, Any]]) -> dict[tuple[int, int], Any]:
    """The samples of tiles agree with the reference; ONNX Runtime Web sums group norms less precisely."""
    outputs = by_reference(package, seed, tiles)
    cells = np.minimum(2 * np.arange(65), 127)
    for tile in tiles:
        expected = outputs[tile["i"], tile["j"]]
        samples = np.array(tile["samples"], dtype=np.float32).reshape(65, 65)
        assert np.isfinite(samples).all()
        assert np.abs(samples - expected[np.ix_(cells, cells)]).max() < 5e-4
        assert abs(tile["mean"] - expected.mean()) < 2e-4
    return outputs


def start_block(tiles: list[dict[str, Any]]) -> tuple[int, int]:
    """A block whose tiles are all there, several of them if that can be."""
    there = {(tile["i"], tile["j"]) for tile in tiles if tile["presence"] == 1}
    i, j = min(there, key=lambda tile: abs(tile[0]) + abs(tile[1]))
    blocks = [(i * 5 + x, j * 5 + z) for z in range(8) for x in range(8)]
    whole = [block for block in blocks if set(world.tiles_of(block)) <= there]
    return max(whole, key=lambda block: len(world.tiles_of(block)))


def test_plays_for_twenty_seconds(chromium: Browser, address: str, package: Exported, tmp_path: Path) -> None:
    page, errors = opened(chromium, f"{address}?seed=halcyon&backend=wasm&{SMALL}")
    page.keyboard.press("Enter")
    page.wait_for_function("game.state === 'flying' && game.run.seconds > 0.5")
    page.keyboard.press("p")
    assert page.evaluate("game.state") == "paused"
    paused = page.evaluate("[game.craft.x, game.craft.z, game.run.seconds]")
    page.wait_for_timeout(700)
    assert page.evaluate("[game.craft.x, game.craft.z, game.run.seconds]") == paused
    page.keyboard.press("p")
    page.wait_for_function(f"game.run.seconds > {paused[2]}")

    before = page.evaluate("({ made: game.made, craft: { ...game.craft } })")
    assert before["made"] >= 1
    for keys in (["w"], ["w", "d"], ["Shift"], ["a"], ["w"]):
        for key in keys:
            page.keyboard.down(key)
        page.wait_for_timeout(4000)
        page.screenshot(path=tmp_path / f"{'-'.join(keys)}.png")
        for key in keys:
            page.keyboard.up(key)
    after = page.evaluate(
        """({ made: game.made, craft: { ...game.craft }, run: { ...game.run }, frames: game.frameTimes.length,
              backend: game.backend, reason: game.reason, renderer: game.renderer, readBacks: game.readBacks })"""
    )
    assert after["made"] > before["made"], "no land came from the model while flying"
    assert (after["backend"], after["renderer"]) == ("wasm", "webgpu")
    assert "ONNX Runtime Web" in after["reason"]
    assert 0 < after["readBacks"] <= after["made"] + 1
    assert after["run"]["distance"] > 200
    assert after["frames"] > 20
    assert after["craft"]["z"] != before["craft"]["z"]

    seed, tiles = page.evaluate("[game.seed, game.tiles]")
    assert {tile["backend"] for tile in tiles} == {"wasm"}
    block = start_block(tiles)
    parts = [tile for tile in tiles if (tile["i"], tile["j"]) in world.tiles_of(block)]
    outputs = check_tiles(package, seed, parts)
    page.wait_for_timeout(500)
    drawn = np.array(page.evaluate(f"game.readBlock({{ x: {block[0]}, z: {block[1]} }})")).reshape(16, 16)
    expected = world.block_heights(seed, block, outputs)
    # Metres.
    assert np.abs(drawn - expected).max() < 0.1
    middle = page.evaluate(f"game.heightAt({(block[0] * 16 + 8) * 6}, {(block[1] * 16 + 8) * 6})")
    assert abs(middle - expected[8, 8]) < 0.1

    picture = Image.open(tmp_path / "w.png").convert("RGB")
    colours = picture.getcolors(maxcolors=1 << 20)
    assert colours is not None
    assert len(colours) > 2000, f"expected sky, land and water, found {len(colours)} colours"
    assert errors == []
    page.close()


def test_a_seed_is_a_world(chromium: Browser, address: str) -> None:
    def visit() -> tuple[Any, ...]:
        page, errors = opened(chromium, f"{address}?seed=one&backend=wasm&{SMALL}")
        tile = page.evaluate("game.tiles.toSorted((a, b) => a.i - b.i || a.j - b.j)[0]")
        height = page.evaluate("game.heightAt(game.craft.x, game.craft.z)")
        page.close()
        assert errors == []
        return tile["i"], tile["j"], tile["samples"], height

    assert visit() == visit()


def test_land_by_webgpu(chromium: Browser, address: str, package: Exported) -> None:
    page, errors = opened(chromium, f"{address}?seed=halcyon&backend=webgpu&{SMALL}")
    seed, tiles, backend, tier = page.evaluate("[game.seed, game.tiles, game.backend, game.tier]")
    assert (backend, tier) == ("webgpu", "fp32-register")
    assert page.evaluate("game.readBacks <= game.made + 1")
    check_tiles(package, seed, tiles[:1])
    page.close()
    assert errors == []


def test_plays_without_webgpu(launch: Callable[[Sequence[str]], Browser], address: str) -> None:
    browser = launch(WEBGL_FLAGS)
    page, errors = opened(browser, f"{address}?seed=halcyon&{SMALL}")
    assert page.evaluate("[game.renderer, game.backend]") == ["webgl2", "wasm"]
    assert "webgpu" in page.evaluate("game.reason").lower()
    page.keyboard.press("Enter")
    page.wait_for_function("game.run.distance > 60")
    assert page.evaluate("game.readBacks") == 0
    page.close()
    assert errors == []


def test_plays_without_model(launch: Callable[[Sequence[str]], Browser], address: str) -> None:
    page = launch(WEBGL_FLAGS).new_page()
    page.set_default_timeout(240_000)
    page.route("**/terrain.webinfer/**", lambda route: route.fulfill(status=404, body="<img src=x>"))
    page.goto(f"{address}?seed=halcyon&{SMALL}")
    page.wait_for_function("window.game?.ready")
    assert page.evaluate("game.backend") == "hash"
    assert "not available" in page.inner_text(".notice")
    assert page.query_selector(".notice img") is None
    page.keyboard.press("Enter")
    page.wait_for_function("game.run.distance > 60")
    page.close()
