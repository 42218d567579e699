"""Device files, what makes an adapter a software adapter, and what is said about missing parts."""

from __future__ import annotations

from pathlib import Path

import pytest

from webinfer import devices
from webinfer.devices import Adapter, Device, Driver, all_devices, find_device
from webinfer.errors import DeviceError


def test_the_devices_of_the_matrix_exist() -> None:
    assert set(all_devices()) == {
        "chromium-compat",
        "chromium-swiftshader",
        "dawn-lavapipe",
        "dawn-native",
        "dawn-swiftshader",
        "firefox-lavapipe",
    }
    assert all(d.driver is not None for d in all_devices().values() if "lavapipe" in d.id)
    assert [d.id for d in all_devices().values() if d.compat] == ["chromium-compat"]


def test_an_unknown_device_lists_the_known_ones() -> None:
    with pytest.raises(DeviceError, match=r"'gpu': expected one of .*dawn-lavapipe.*webinfer devices"):
        find_device("gpu")


@pytest.mark.parametrize(
    ("adapter", "software"),
    [
        # Each of the two signs alone is enough: browsers hide names, and drivers forget the flag.
        (Adapter("", "", "", "", is_fallback=True), True),
        (Adapter("mesa", "software", "llvmpipe", "llvmpipe (LLVM 15.0.6, 256 bits)", is_fallback=False), True),
        (Adapter("google", "swiftshader", "", "", is_fallback=None), True),
        (Adapter("microsoft", "", "", "Microsoft Basic Render Driver", is_fallback=None), True),
        (Adapter("nvidia", "ampere", "", "NVIDIA GeForce RTX 3060", is_fallback=False), False),
        (Adapter("intel", "gen-12lp", "", "", is_fallback=None), False),
        (Adapter("mesa", "", "", "AMD Radeon (RADV)", is_fallback=False), False),
    ],
)
def test_software_is_told_from_gpus(adapter: Adapter, software: bool) -> None:
    assert adapter.is_software is software


def test_missing_parts_are_named_with_their_fix(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda _: None)
    monkeypatch.setattr(devices, "_dpkg", lambda *_: ())
    monkeypatch.setattr(devices, "ICD_FOLDERS", ())
    found = devices.problems(find_device("dawn-lavapipe"))
    assert any("node" in p.fault and "Node.js" in p.fix for p in found)
    assert any("lvp_icd.json" in p.fault and p.fix == "apt-get install mesa-vulkan-drivers" for p in found)
    found = devices.problems(find_device("firefox-lavapipe"))
    assert any(p.fault == "firefox is not on PATH" and p.fix == "apt-get install firefox-esr" for p in found)


@pytest.mark.parametrize(
    ("version", "old"), [("22.3.6-1+deb12u1", True), ("25.0.7-2~bpo12+1", False), ("1:24.9-3", True), ("26.1-1", False)]
)
def test_an_old_driver_is_a_problem(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, version: str, old: bool) -> None:
    icd = tmp_path / "lvp_icd.json"
    icd.write_text("{}")

    def dpkg(flag: str, _package: str) -> tuple[str, ...]:
        return (str(icd),) if flag == "-L" else ("Status: install ok installed", f"Version: {version}")

    monkeypatch.setattr(devices, "_dpkg", dpkg)
    driver = Driver(package="mesa-vulkan-drivers", icd="lvp_icd.json", min_version="25")
    found = list(devices._driver_problems(driver))
    assert bool(found) is old
    assert devices.icd_path(driver) == icd


def test_a_file_whose_id_is_not_its_name_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    device: Device = find_device("dawn-native")
    (tmp_path / "devices").mkdir()
    (tmp_path / "devices" / "other.json").write_text(device.model_dump_json())
    monkeypatch.setattr(devices, "data_dir", lambda _: tmp_path)
    with pytest.raises(DeviceError, match=r"other\.json: id 'dawn-native' must equal the file name"):
        all_devices.__wrapped__()
