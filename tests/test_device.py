"""Devices: what is found, what is trusted, what is remembered, what is chosen."""

import json
import os
import re
import subprocess
import sys
import textwrap
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gpuops.device import (
    DeviceInfo,
    cache,
    canary,
    choice,
    drivers,
    list_devices,
    pocl,
    probe,
    rank,
    select,
    selection,
)
from gpuops.errors import DeviceError, GpuopsWarning, ParameterError
from gpuops.process import ahead

from .conftest import run_python

INFO = DeviceInfo(
    index=0, platform="Platform", name="Device", vendor="Vendor", kind="cpu", driver="1.0", version="OpenCL 3.0",
    compute_units=2, clock_mhz=1000, global_bytes=1 << 30, local_bytes=1 << 15, max_alloc_bytes=1 << 28, work_group=256,
    double=True, half=False, usable=True, reason=None, copy_gbps=10.0, gflops=100.0,
)  # fmt: skip
PASS = {"usable": True, "copy_gbps": 10.0, "gflops": 100.0}


@pytest.fixture
def fresh(empty_cache, monkeypatch) -> Path:
    """An empty cache, on disk and in the process."""
    monkeypatch.setattr(probe, "_verdicts", {})
    monkeypatch.setenv("POCL_CACHE_DIR", str(empty_cache))  # a check that fails removes the programs there
    return empty_cache


def forget(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forgets all that a new process would not know: only the files remain."""
    monkeypatch.setattr(probe, "_verdicts", {})


@pytest.fixture
def child(monkeypatch) -> Any:
    """Sets a program to run instead of the canary; `runs` counts it."""

    def become(program: str) -> None:
        def command(arguments: Sequence[str]) -> list[str]:
            state.runs += 1
            return [sys.executable, "-c", program]

        monkeypatch.setattr(probe, "command", command)

    state = SimpleNamespace(runs=0, become=become)
    return state


def python(program: str, **environment: str | None) -> subprocess.CompletedProcess[str]:
    """Runs a program in a process with a changed environment (None removes)."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    # This process made the folder; the other must start without it.
    if "vendors-" in env.get("OCL_ICD_VENDORS", ""):
        del env["OCL_ICD_VENDORS"]
    for name, value in environment.items():
        env.pop(name, None)
        if value is not None:
            env[name] = value
    return run_python("-c", program, env=env)


def test_this_machine_has_a_numbered_list_with_a_usable_device() -> None:
    devices = list_devices()
    assert [info.index for info in devices] == list(range(len(devices)))
    kinds = [selection.KINDS.index(info.kind) for info in devices]
    assert kinds == sorted(kinds)
    usable = [info for info in devices if info.usable]
    assert usable
    for info in devices:
        assert info.usable == (info.reason is None)
    assert all(info.copy_gbps is not None and info.gflops is not None for info in usable)


def test_default_selection_is_the_first_in_rank(monkeypatch) -> None:
    monkeypatch.delenv("CLPIX_DEVICE", raising=False)
    device, info = select()
    assert info == rank(i for i in list_devices() if i.usable)[0]
    assert (device.name.strip(), device.platform.name.strip()) == (info.name, info.platform)


def test_every_usable_device_is_selectable_by_number_and_name() -> None:
    for info in list_devices():
        if info.usable:
            assert select(str(info.index))[1] == info and select(info.name.upper())[1].name == info.name


def test_environment_variable_chooses_and_the_argument_wins(monkeypatch) -> None:
    monkeypatch.setenv("CLPIX_DEVICE", "nothing-like-this")
    with pytest.raises(DeviceError, match=r"CLPIX_DEVICE: no device .nothing-like-this"):
        select()
    usable = next(info for info in list_devices() if info.usable)
    assert select(str(usable.index))[1] == usable


def test_warm_selection_starts_no_process(monkeypatch) -> None:
    select()
    forget(monkeypatch)  # so that verdicts come from the files
    monkeypatch.setattr(probe, "command", lambda arguments: pytest.fail("a process was started"))
    select()


def test_rank_prefers_kind_then_compute_then_number() -> None:
    cpu = replace(INFO, index=3, gflops=9e5)
    intel = replace(INFO, index=6, platform="Intel(R) OpenCL", gflops=5.0)
    pocl = replace(INFO, index=5, platform="Portable Computing Language", gflops=7.0)
    slow = replace(INFO, index=0, kind="gpu", gflops=1000.0)
    fast = replace(INFO, index=2, kind="gpu", gflops=5000.0)
    other = replace(INFO, index=1, kind="accelerator", gflops=8e5)
    unmeasured = replace(INFO, index=4, kind="gpu", gflops=None)
    others = [fast, slow, unmeasured, other]
    assert rank([cpu, pocl, unmeasured, intel, other, slow, fast]) == [*others, intel, pocl, cpu]


def test_rank_ignores_noise_among_equals() -> None:
    first = replace(INFO, index=0, kind="gpu", gflops=51_100.0)
    second = replace(INFO, index=1, kind="gpu", gflops=51_400.0)
    assert rank([second, first]) == [first, second]


class Fakes:
    """Devices that exist only here, with what their check says."""

    def __init__(self, *infos: DeviceInfo) -> None:
        self.checked: list[int] = []
        self.measured: list[int] = []
        self.candidates = [self._candidate(index, info) for index, info in enumerate(infos)]

    def _candidate(self, index: int, info: DeviceInfo) -> Any:
        numbered = replace(info, index=index)

        def check(*, refresh: bool = False, measured: bool = False) -> DeviceInfo:
            self.checked.append(index)
            self.measured += [index] * measured
            return numbered

        return SimpleNamespace(device=f"device {index}", info=numbered, check=check)


GPU = replace(INFO, kind="gpu", name="Fast GPU", platform="GPU Vendor", gflops=5000.0)
BROKEN = replace(GPU, name="Broken GPU", usable=False, reason="crashed (SIGSEGV) while building kernels")


@pytest.fixture
def fakes(monkeypatch) -> Any:
    monkeypatch.delenv("CLPIX_DEVICE", raising=False)

    def install(*infos: DeviceInfo) -> Fakes:
        made = Fakes(*infos)
        monkeypatch.setattr(selection, "candidates", lambda: made.candidates)
        return made

    return install


def test_working_gpu_leaves_cpus_unchecked(fakes) -> None:
    made = fakes(GPU, INFO)
    assert select()[0] == "device 0" and made.checked == [0]


def test_broken_gpu_is_passed_over_with_a_warning_every_time(fakes) -> None:
    fakes(BROKEN, INFO)
    for _ in range(2):
        with pytest.warns(GpuopsWarning, match=r"Broken GPU.*crashed \(SIGSEGV\)"):
            assert select()[0] == "device 1"


def test_all_are_the_gpus(fakes) -> None:
    """The best comes first. CPUs only count where there is no GPU that works."""
    fast = replace(GPU, gflops=9000.0)
    made = fakes(GPU, fast, INFO)
    assert [info.index for info in selection.select_all(" ALL")] == [1, 0] and 2 not in made.checked
    assert select("all")[0] == "device 1"
    fakes(INFO, INFO)
    assert [info.index for info in selection.select_all("all")] == [0, 1]
    fakes(BROKEN, INFO, GPU)
    with pytest.warns(GpuopsWarning, match="Broken GPU"):
        assert [info.index for info in selection.select_all("all")] == [2]
    fakes(replace(INFO, usable=False, reason="computes wrong results"))
    with pytest.raises(DeviceError, match=r"no usable OpenCL device .*computes wrong results.*get one with"):
        selection.select_all("all")


def test_lists_of_devices(fakes, monkeypatch) -> None:
    """A comma within a device's name does not part it."""
    fakes(GPU, replace(GPU, name="Brand, Inc. X,1"), replace(INFO, name="Slow CPU"))

    def chosen(spec: str | None) -> list[int]:
        return [info.index for info in selection.select_all(spec)]

    assert chosen("2,0") == [2, 0] and select("2,0")[0] == "device 2" and chosen("slow, gpu") == [2, 0]
    assert chosen("brand, inc. x,1") == [1] and chosen("Brand, Inc. X,1,2") == chosen("Inc. X,2") == [1, 2]
    assert chosen("Fast") == [0] and chosen(None) == [0]
    monkeypatch.setenv("CLPIX_DEVICE", "2,1")
    assert chosen(None) == [2, 1]
    monkeypatch.setenv("CLPIX_DEVICE", "2,2")
    with pytest.raises(ParameterError, match=r"CLPIX_DEVICE: '2,2' names device 2 \(Slow CPU\) twice"):
        select()
    for spec in (",", "0,", "0,,1", "all,0"):
        with pytest.raises(ParameterError, match="is no list of devices"):
            chosen(spec)
    with pytest.raises(DeviceError, match="no device 'none'"):
        chosen("0,none")


def test_gpus_are_measured_where_they_differ(fakes) -> None:
    """Of GPUs that are alike, one check is enough, and of CPUs' drivers as well: they share one processor."""
    made = fakes(GPU, GPU, INFO)
    assert select()[0] == "device 0" and made.checked == [0] and not made.measured
    made = fakes(BROKEN, BROKEN, GPU, replace(GPU, name="Faster GPU", gflops=9000.0), INFO)
    with pytest.warns(GpuopsWarning, match="Broken GPU"):
        assert select()[0] == "device 3"
    assert sorted(made.measured) == [0, 1, 2, 3]
    made = fakes(INFO, replace(INFO, platform="Portable Computing Language", gflops=5.0))
    assert select()[0] == "device 1" == select("cpu")[0] and made.checked == [1, 1] and not made.measured


def test_broken_cpu_is_passed_over_in_silence(fakes, recwarn) -> None:
    fakes(replace(INFO, usable=False, reason="computes wrong results"), INFO)
    assert select()[0] == "device 1" and not recwarn.list


@pytest.mark.parametrize(("spec", "index"), [("gpu", 1), ("cpu", 2), ("1", 1), ("gpu vendor", 1), ("3.0", 1)])
def test_specifications(fakes, spec, index) -> None:
    fakes(BROKEN, GPU, INFO)
    assert select(spec)[1].index == index


@pytest.mark.parametrize(("spec", "message"), [
    ("0", "Broken GPU: crashed"),
    ("broken", "Broken GPU: crashed"),
    ("7", "no device '7'; there is: 0 Broken GPU"),
    ("-1", "no device '-1'"),
    ("accelerator", "no device 'accelerator'; there is: 0 Broken GPU .*, 1 Device"),
    ("nothing-like-this", "no device 'nothing-like-this'; there is"),
])  # fmt: skip
def test_impossible_specifications_say_why(fakes, spec, message) -> None:
    fakes(BROKEN, INFO)
    with pytest.raises(DeviceError, match=message) as caught:
        select(spec)
    assert "\n" not in str(caught.value)


def test_no_device_says_how_to_get_one(fakes) -> None:
    fakes()
    with pytest.raises(DeviceError, match=r"clpix\[cpu\].*pocl-opencl-icd.*driver"):
        select()


def test_no_usable_device_names_all_and_says_how_to_get_one(fakes) -> None:
    fakes(replace(INFO, usable=False, reason="cannot build kernels"))
    with pytest.raises(DeviceError, match=r"0 Device: cannot build kernels.*clpix\[cpu\]"):
        select()


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("import os; os.abort()", r"crashed \(SIGABRT\)"),
        (
            """print('{"stage": "building kernels"}', flush=True); import os; os.kill(os.getpid(), 11)""",
            r"crashed \(SIGSEGV\) while building kernels",
        ),
        ("raise SystemExit(3)", "exit code 3"),
        ("print('garbage'); print('[1]'); print('{broken')", "gave no answer"),
        ("""print('{"usable": "yes"}')""", "no sensible answer"),
        ("""print('{"usable": true, "gflops": "many"}')""", "no sensible answer"),
        ("""print('{"usable": false, "reason": "computes wrong results"}')""", "computes wrong results"),
    ],
)
def test_bad_children_make_a_device_unusable(fresh, child, program, reason) -> None:
    child.become(program)
    found = probe.verdict(INFO, "1", 0)
    assert not found.usable and found.reason is not None and re.search(reason, found.reason)


@pytest.mark.exhaustive
def test_hanging_child_is_stopped(fresh, child, monkeypatch) -> None:
    monkeypatch.setenv("CLPIX_PROBE_TIMEOUT", "3")
    child.become("""print('{"stage": "starting"}', flush=True); import time; time.sleep(1000)""")
    assert probe.verdict(INFO, "1", 0).reason == "did not finish within 3 s while starting"


def test_driver_chatter_does_not_hide_the_answer(fresh, child) -> None:
    child.become(f"print('loading...'); print('''{json.dumps(PASS)}'''); print('bye')")
    assert probe.verdict(INFO, "1", 0) == probe.Verdict(True, None, 10.0, 100.0)


def test_verdict_is_remembered_by_device_and_driver(fresh, child, monkeypatch) -> None:
    child.become(f"print('''{json.dumps(PASS)}''')")

    def verdict(
        info: DeviceInfo = INFO, version: str = "1", ordinal: int = 0, **options: Any
    ) -> probe.Verdict:
        forget(monkeypatch)
        return probe.verdict(info, version, ordinal, **options)

    first = verdict()
    assert verdict() == first and child.runs == 1
    for runs, changed in enumerate(
        [
            lambda: verdict(replace(INFO, driver="1.1")),
            lambda: verdict(version="2"),
            lambda: verdict(ordinal=1),
            lambda: verdict(replace(INFO, name="Other")),
            lambda: verdict(refresh=True),
        ],
        start=2,
    ):
        changed()
        assert child.runs == runs
    monkeypatch.setattr(cache, "processor_identity", lambda: "another machine with the same home")
    verdict()
    assert child.runs == 7


def test_speed_is_measured_when_it_is_asked_for(fresh, child, monkeypatch) -> None:
    child.become("""print('{"usable": true, "copy_gbps": 10.0}')""")
    assert probe.verdict(INFO, "1", 0) == probe.Verdict(True, None, 10.0, None)
    child.become(f"print('''{json.dumps(PASS)}''')")
    for runs, measured in ((1, False), (2, True), (2, False), (2, True)):
        got = probe.verdict(INFO, "1", 0, measured=measured)
        assert child.runs == runs and (got.gflops is not None) == (runs > 1)
        forget(monkeypatch)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff\xfe", b'{"key": 1, "value": {}}', b"null"])
def test_corrupt_cache_is_no_cache(fresh, child, monkeypatch, content) -> None:
    child.become(f"print('''{json.dumps(PASS)}''')")
    probe.verdict(INFO, "1", 0)
    (file,) = fresh.glob("device-*.json")
    file.write_bytes(content)
    forget(monkeypatch)
    assert probe.verdict(INFO, "1", 0).usable and child.runs == 2


def test_failure_is_remembered_for_a_day(fresh, child, monkeypatch) -> None:
    child.become("import os; os.abort()")
    probe.verdict(INFO, "1", 0)
    forget(monkeypatch)
    assert not probe.verdict(INFO, "1", 0).usable and child.runs == 1
    child.become(f"print('''{json.dumps(PASS)}''')")
    forget(monkeypatch)
    tomorrow = time.time() + cache.RETRY_SECONDS + 1
    monkeypatch.setattr(time, "time", lambda: tomorrow)
    assert probe.verdict(INFO, "1", 0).usable


def test_unwritable_cache_still_gives_a_verdict(fresh, child, monkeypatch) -> None:
    monkeypatch.setattr(cache, "save", lambda name, data: None)
    child.become(f"print('''{json.dumps(PASS)}''')")
    assert probe.verdict(INFO, "1", 0).usable and probe.verdict(INFO, "1", 0).usable and child.runs == 1


def test_a_full_disk_gives_no_verdict(fresh, child, monkeypatch) -> None:
    """PoCL builds programs into files. That they fail where there is no room is not kept."""
    child.become("""print('{"usable": false, "reason": "cannot build kernels"}')""")
    info, others = replace(INFO, platform=pocl.NAME), fresh / "AB" / "C"
    others.mkdir(parents=True)
    with monkeypatch.context() as full:
        full.setattr(cache, "can_hold", lambda folder: False)
        found = probe.verdict(info, "1", 0)
    assert not found.usable and found.reason is not None and "MB of room" in found.reason
    assert not probe.verdict(info, "2", 0).usable and others.is_dir()  # other processes may run what is kept
    child.become(f"print('''{json.dumps(PASS)}''')")
    forget(monkeypatch)
    assert probe.verdict(info, "1", 0).usable


def test_programs_of_pocl_are_looked_at_once(fresh, monkeypatch) -> None:
    """Until they are used again, or the machine starts anew: thousands of them took a third of a second."""
    monkeypatch.setattr(pocl, "_state", lambda folder: "this start")
    programs = [fresh / group / "PROGRAM" for group in ("AB", "CD")]
    for program in programs:
        (program / "blur" / "64-1-1").mkdir(parents=True)
        (program / "blur" / "64-1-1" / "blur.so").write_bytes(b"\x7fELF")
        (program / "last_accessed").touch()
        os.utime(program / "last_accessed", (time.time() - 3600,) * 2)

    def there() -> list[bool]:
        pocl.mend(str(fresh))
        return [program.exists() for program in programs]

    assert there() == [True, True]
    for program in programs:
        (program / "blur" / "64-1-1" / "blur.so").write_bytes(bytes(4))
    assert there() == [True, True]
    (programs[1] / "last_accessed").touch()
    assert there() == [True, False]
    monkeypatch.setattr(pocl, "_state", lambda folder: "the next start")
    assert there() == [False, False]


def test_build_failures_are_told_by_their_cause() -> None:
    import pyopencl as cl

    log = "BUILD_PROGRAM_FAILURE\n\nBuild on <device>:\n\nerror: unknown target CPU 'generic'\n"
    assert (
        canary.one_line(cl.RuntimeError(log)) == "cannot build kernels: error: unknown target CPU 'generic'"
    )


def icd(folder: Path, **libraries: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, library in libraries.items():
        (folder / f"{name}.icd").write_text(library + "\n")
    return folder


def names(found: Sequence[drivers.Driver]) -> list[str]:
    return [driver.name for driver in found]


def test_folder_is_read_once_for_each_library(tmp_path) -> None:
    folder = icd(tmp_path, b="libb.so", a="liba.so", c="liba.so")
    (folder / "readme.txt").write_text("no driver")
    assert drivers.read_folder(str(folder)) == [
        drivers.Driver("a.icd", "liba.so"),
        drivers.Driver("b.icd", "libb.so"),
    ]
    assert drivers.read_folder(str(tmp_path / "none")) == []


def test_missing_drivers_are_added_once(tmp_path, monkeypatch) -> None:
    intel = tmp_path / "libintelocl.so"
    intel.touch()
    monkeypatch.setattr(drivers, "intel_library", lambda: str(intel))
    monkeypatch.setattr(drivers, "_LIBRARY_FOLDERS", ())
    monkeypatch.setenv("CONDA_PREFIX", str(tmp_path / "conda"))
    icd(tmp_path / "conda/etc/OpenCL/vendors", pocl="libpocl-conda.so", dead="/nowhere/libdead.so")
    system = [drivers.Driver("pocl.icd", "libpocl.so.2")]
    assert names(drivers.missing(system, explicit=False)) == ["extra-pocl.icd", "intel-pip.icd"]
    assert names(drivers.missing(system, explicit=True)) == ["intel-pip.icd"]
    installed = [drivers.Driver("intel64.icd", "libintelocl.so")]
    assert names(drivers.missing(installed, explicit=True)) == []
    dead = [drivers.Driver("intel64.icd", "/opt/gone/libintelocl.so")]
    assert names(drivers.missing(dead, explicit=True)) == ["intel-pip.icd"]


def test_containers_nvidia_driver_is_registered(tmp_path, monkeypatch) -> None:
    (tmp_path / "libnvidia-opencl.so.1").touch()
    monkeypatch.setattr(drivers, "intel_library", lambda: None)
    monkeypatch.setattr(drivers, "_LIBRARY_FOLDERS", (str(tmp_path),))
    monkeypatch.delenv("CONDA_PREFIX", raising=False)
    assert names(drivers.missing([], explicit=False)) == ["nvidia.icd"]
    assert names(drivers.missing([], explicit=True)) == []
    there = [drivers.Driver("nvidia.icd", "libnvidia-opencl.so.1")]
    assert names(drivers.missing(there, explicit=False)) == []


def test_driver_that_crashes_when_listed_is_left_out(fresh, monkeypatch) -> None:
    good, bad = drivers.Driver("good.icd", "libgood.so"), drivers.Driver("bad.icd", "libbad.so")
    runs: list[set[str]] = []

    def run(arguments: Sequence[str], environment: dict[str, str]) -> dict[str, Any]:
        folder = environment.get("OCL_ICD_VENDORS")
        loaded = set(os.listdir(folder)) if folder else {"good.icd", "bad.icd"}
        runs.append(loaded)
        return {"usable": False, "reason": "crashed (SIGSEGV)"} if "bad.icd" in loaded else {"usable": True}

    monkeypatch.setattr(probe, "run_canary", run)
    assert drivers.refused_drivers([good, bad], refresh=False) == {"bad.icd": "crashed (SIGSEGV)"}
    count = len(runs)
    assert drivers.refused_drivers([good, bad], refresh=False) == {"bad.icd": "crashed (SIGSEGV)"}
    assert len(runs) == count
    drivers.refused_drivers([good, bad], refresh=True)
    assert len(runs) == 2 * count


def test_refused_driver_is_hidden_and_named(fresh, monkeypatch, tmp_path) -> None:
    folder = icd(tmp_path / "vendors", good="libgood.so", bad="libbad.so")
    monkeypatch.setattr(drivers, "_prepared", False)
    monkeypatch.setattr(drivers, "intel_library", lambda: None)
    monkeypatch.setattr(drivers, "refused_drivers", lambda found, refresh: {"bad.icd": "crashed (SIGSEGV)"})
    monkeypatch.setenv("OCL_ICD_VENDORS", str(folder))
    drivers.prepare(say=False)  # warns of nothing yet
    assert drivers.prepared() == [drivers.Driver("good.icd", "libgood.so")]
    with pytest.warns(GpuopsWarning, match=r"bad\.icd passed over: it crashed"):
        drivers.prepare()
    drivers.prepare()  # says it once
    assert drivers.read_folder(os.environ["OCL_ICD_VENDORS"]) == [drivers.Driver("good.icd", "libgood.so")]


def test_nothing_to_add_leaves_the_environment_alone(fresh, monkeypatch, tmp_path) -> None:
    folder = icd(tmp_path / "vendors", good="libgood.so")
    monkeypatch.setattr(drivers, "_prepared", False)
    monkeypatch.setattr(drivers, "intel_library", lambda: None)
    monkeypatch.setattr(drivers, "refused_drivers", lambda found, refresh: {})
    monkeypatch.setenv("OCL_ICD_VENDORS", str(folder))
    drivers.register_bundled_runtimes()
    assert os.environ["OCL_ICD_VENDORS"] == str(folder)


def test_the_driver_of_a_single_file_is_known(monkeypatch, tmp_path) -> None:
    file = icd(tmp_path / "vendors", good="libgood.so", other="libother.so") / "good.icd"
    monkeypatch.setattr(drivers, "_prepared", False)
    monkeypatch.setattr(drivers, "_known", [])
    monkeypatch.setenv("OCL_ICD_VENDORS", str(file))
    drivers.prepare()
    assert drivers.prepared() == [drivers.Driver("good.icd", "libgood.so")]
    assert os.environ["OCL_ICD_VENDORS"] == str(file)
    assert drivers.read_file(str(tmp_path / "there is none.icd")) == drivers.read_file("libgood.so") == []


def test_vendor_folder_is_repaired(fresh) -> None:
    wanted = [drivers.Driver("a.icd", "liba.so"), drivers.Driver("b.icd", "libb.so")]
    folder = drivers.materialise(wanted)
    for damage in (
        Path.unlink,
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(b"\xff\0noise"),
    ):
        damage(folder / "a.icd")
        assert drivers.materialise(wanted) == folder and drivers.read_folder(str(folder)) == wanted
    assert [path.name for path in fresh.iterdir()] == [folder.name]


@pytest.mark.parametrize(("vendor", "flags", "target"), [
    ("AuthenticAMD", "sse avx2", "core-avx2"),
    ("AuthenticAMD", "avx2 avx512f avx512cd avx512bw avx512dq avx512vl", "skx"),
    ("AuthenticAMD", "sse", None),
    ("GenuineIntel", "avx2", None),
])  # fmt: skip
def test_intel_runtime_is_told_what_amd_can_do(monkeypatch, vendor, flags, target) -> None:
    monkeypatch.setattr(cache, "processor", lambda: {"vendor_id": vendor, "flags": flags})
    monkeypatch.setenv("CL_CONFIG_CPU_TARGET_ARCH", "x")  # so that it is restored
    monkeypatch.delenv("CL_CONFIG_CPU_TARGET_ARCH")
    drivers._tune_intel("libpocl.so /lib/libintelocl.so")
    assert os.environ.get("CL_CONFIG_CPU_TARGET_ARCH") == target


SELECT = "from gpuops.device import select; print(select()[1].name)"


def test_no_opencl_at_all() -> None:
    done = python(
        "from gpuops.device import list_devices, select\nassert list_devices() == []\nselect()",
        OCL_ICD_VENDORS="/nonexistent",
    )
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert "DeviceError: no OpenCL device (OCL_ICD_VENDORS is /nonexistent): get one with" in last


def test_missing_pyopencl_is_one_line() -> None:
    done = python("import sys; sys.modules['pyopencl'] = None\nfrom gpuops.device import select\nselect()")
    assert "DeviceError: pyopencl cannot be imported" in done.stderr.splitlines()[-1]


MAPPED = """
import sys
from gpuops.process import ahead
ahead.single = True
from gpuops.device import choice, drivers, loading, select
loading.begin(None)
print(select()[1].index, select()[1].name, sep="\\n")
maps = open("/proc/self/maps").read()
print(*(d.name for d in drivers.prepared() if d.library.rpartition("/")[2] in maps))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_the_next_command_loads_one_driver(fresh, tmp_path) -> None:
    """It gives the device the same number, and sees what changes."""
    system = drivers.read_folder(os.environ.get("OCL_ICD_VENDORS", drivers.SYSTEM_FOLDER))
    library = {f"driver{i}": driver.library for i, driver in enumerate(system)}
    vendors = icd(tmp_path / "vendors", **library, absent="libabsent.so.1")
    environment = {"CLPIX_CACHE_DIR": str(fresh), "OCL_ICD_VENDORS": str(vendors), "CLPIX_DEVICE": ""}

    def run(**changed: str) -> tuple[int, str, list[str]]:
        done = python(MAPPED, **{**environment, **changed})
        index, name, mapped = done.stdout.splitlines()
        return int(index), name, mapped.split()

    index, name, mapped = run()
    if len(mapped) < 2:
        pytest.skip("there is one driver")
    again = run()
    assert again[:2] == (index, name) and len(again[2]) == 1
    others = [info for info in list_devices() if info.usable and info.name != name]
    for other in others:
        for number in (str(other.index), other.name):
            runs = [run(CLPIX_DEVICE=number) for _ in range(2)]
            assert {found[:2] for found in runs} == {(other.index, other.name)}
            assert [len(found[2]) > 1 for found in runs] == [True, False]
    assert len(run(RUSTICL_ENABLE="nothing")[2]) > 1  # drivers may have other devices then
    (vendors / "absent.icd").unlink()
    assert len(run()[2]) > 1 and len(run()[2]) == 1


def test_a_device_that_changed_is_told_once(fresh, monkeypatch) -> None:
    """It is looked for anew by the next command."""
    driver, other = drivers.Driver("a.icd", "liba.so"), drivers.Driver("b.icd", "libb.so")
    device: Any = SimpleNamespace(platform=SimpleNamespace(version="1"))
    candidate = selection.Candidate(device, INFO, 0)
    monkeypatch.delenv("CLPIX_DEVICE", raising=False)
    monkeypatch.setattr(ahead, "single", True)
    monkeypatch.setattr(drivers, "prepare", lambda **_: None)
    monkeypatch.setattr(drivers, "_known", [driver, other])
    monkeypatch.setattr(drivers, "_platforms", {"a.icd": [["Platform", "1"]]})
    monkeypatch.setattr(probe, "verdict", lambda *_, **__: probe.Verdict(True))
    monkeypatch.setattr(selection, "present", lambda: [candidate])
    assert select()[0] is device and choice.recalled("") == choice.LastDevice.of(candidate, "a.icd", 0)
    changed = selection.Candidate(device, replace(INFO, driver="2"), 0)
    monkeypatch.setattr(selection, "present", lambda: [changed])
    with pytest.raises(DeviceError, match="Device is not as it was for the last command: run this one again"):
        select()
    assert select()[1].driver == select()[1].driver == "2"


def test_what_is_not_kept_of_a_device(fresh, monkeypatch) -> None:
    driver, other = drivers.Driver("a.icd", "liba.so"), drivers.Driver("b.icd", "libb.so")
    device: Any = SimpleNamespace(platform=SimpleNamespace(version="1"))
    chosen, broken = selection.Candidate(device, INFO, 0), selection.Candidate(device, INFO, 1)
    chosen.works, broken.works = True, False
    monkeypatch.setattr(ahead, "single", True)
    monkeypatch.setattr(drivers, "_known", [driver, other])
    monkeypatch.setattr(drivers, "_platforms", {"a.icd": [["Platform", "1"]]})
    choice.keep("", chosen, [broken, chosen])  # what fails is told by each command
    assert choice.recalled("") is None
    choice.keep("", chosen, [chosen])
    assert choice.recalled("") and not choice.recalled("0")
    monkeypatch.setattr(drivers, "_known", [other, other])  # the driver is gone
    assert choice.recalled("") is None
    monkeypatch.setattr(drivers, "_known", [driver, other])
    monkeypatch.setattr(ahead, "single", False)  # in a library's process
    assert choice.recalled("") is None
    monkeypatch.setattr(ahead, "single", True)
    damaged: list[dict[str, Any]] = [{}, {"state": 1}, {"state": choice._state(), "device": {"icd": "a.icd"}}]
    for value in damaged:
        cache.save_value("choice", "", value, bad=False)
        assert choice.recalled("") is None


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_drivers_are_loaded_ahead() -> None:
    """In a thread, and without pyopencl; a library that is not there is none."""
    done = python(
        "import sys, threading\nfrom gpuops.process import ahead\nahead.load('libnone.so.1')\n"
        "ahead.ask('libnone.so.1')\nahead.ask('libc.so.6')\n"
        "from gpuops.device import loading\nloading.begin()\n"
        "for thread in threading.enumerate():\n    thread is threading.main_thread() or thread.join()\n"
        "from gpuops.device import drivers\nmaps = open('/proc/self/maps').read()\n"
        "print('pyopencl' in sys.modules, *(d.library.rpartition('/')[2].rpartition('.so')[0] in maps"
        " for d in drivers.prepared()))"
    )
    imported, *loaded = done.stdout.split()
    assert imported == "False" and set(loaded) == {"True"}


@pytest.mark.exhaustive
def test_icd_file_pointing_nowhere_is_harmless(tmp_path) -> None:
    system = drivers.read_folder(os.environ.get("OCL_ICD_VENDORS", drivers.SYSTEM_FOLDER))
    library = {f"driver{i}": driver.library for i, driver in enumerate(system)}
    folder = icd(tmp_path / "vendors", dead="/nowhere/libdead.so", **library)
    done = python(SELECT, OCL_ICD_VENDORS=str(folder), CLPIX_DEVICE=None)
    assert done.returncode == 0, done.stderr


@pytest.mark.cases(1)
@pytest.mark.parametrize("home", [None, "/dev/null"])
def test_works_without_a_writable_home(tmp_path, home) -> None:
    done = python(
        SELECT, HOME=home, XDG_CACHE_HOME=None, CLPIX_CACHE_DIR=None, TMPDIR=str(tmp_path), CLPIX_DEVICE=None
    )
    assert done.returncode == 0, done.stderr
    if home:
        (private,) = tmp_path.glob("clpix-*")
        assert private.stat().st_mode & 0o077 == 0


def clpix(*arguments: str, **environment: str | None) -> subprocess.CompletedProcess[str]:
    return python(f"from clpix.main import main; main({list(arguments)!r})", **environment)


def test_devices_as_json_tells_everything_and_marks_the_default() -> None:
    done = clpix("devices", "--json", CLPIX_DEVICE=None)
    assert done.returncode == 0, done.stderr
    devices = json.loads(done.stdout)["devices"]
    assert {*DeviceInfo.__dataclass_fields__, "default"} == set(devices[0])
    assert [info["default"] for info in devices].count(True) == 1
    assert all(info["usable"] for info in devices if info["default"])


def test_devices_without_opencl_exits_with_3_and_one_line() -> None:
    done = clpix("devices", OCL_ICD_VENDORS="/nonexistent")
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.startswith("clpix: error: no OpenCL device") and done.stderr.count("\n") == 1


@pytest.mark.skipif(sys.platform == "win32", reason="Windows limits no process's addresses")
@pytest.mark.parametrize("megabytes", [400, 600, 1400])
def test_few_addresses_are_one_line(megabytes) -> None:
    limit = f"import resource; resource.setrlimit(resource.RLIMIT_AS, ({megabytes} << 20,) * 2)"
    done = python(f"{limit}; from clpix.main import main; main(['devices'])")
    assert (done.returncode, done.stdout) == (3, "")
    assert re.fullmatch(r"clpix: error: `ulimit -v` allows [\d.]+ .B .*: allow more\n", done.stderr), (
        done.stderr
    )


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_the_first_run_says_on_a_terminal_what_it_waits_for(tmp_path) -> None:
    run = [sys.executable, "-c", "from clpix.main import main; main(['devices'])"]
    for cold in (True, False):
        terminal, theirs = os.openpty()
        environment = os.environ | {"CLPIX_CACHE_DIR": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
        subprocess.run(run, env=environment, stdout=subprocess.PIPE, stderr=theirs, timeout=300, check=True)
        os.write(theirs, b"end")
        said = b""
        while not said.endswith(b"end"):
            said += os.read(terminal, 10_000)
        os.close(theirs)
        os.close(terminal)
        assert said == b"clpix: testing devices and building kernels, once\r\n" * cold + b"end"


def test_table_shows_why_a_device_is_skipped() -> None:
    from clpix.devices import table

    header, first, reason, second = table([BROKEN, replace(INFO, index=1)], [1])
    assert header.split()[:3] == ["#", "kind", "name"]
    assert "Broken GPU" in first and reason.strip() == "skipped: crashed (SIGSEGV) while building kernels"
    assert second.startswith("*1  cpu   Device") and "1.074 GB" in second and "268.4 MB" in second


def test_a_narrow_terminal_has_a_paragraph_for_each_device() -> None:
    from clpix.devices import paragraphs, row

    devices = [BROKEN, replace(INFO, index=1)]
    lines = paragraphs(devices, [1], 60)
    assert max(map(len, lines)) <= 60
    text = " ".join(" ".join(lines).split())
    assert BROKEN.reason in text and "*1 " in text
    for title, cell in list(row(devices[1], [1]).items())[3:]:
        assert any(f"{title} {cell}" in line for line in lines)


@pytest.mark.exhaustive
def test_drivers_leave_the_programs_signals_alone() -> None:
    """The test runs in a process of its own, whose drivers are not loaded yet."""
    program = """
        import os, signal, threading
        os.environ["OPENBLAS_NUM_THREADS"] = "1"  # as clpix does: another thread could take the first signal
        from gpuops import Gpu
        from gpuops.process import signals

        heard = []
        signal.signal(signal.SIGQUIT, lambda *_: heard.append("ours"))
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        with signals.kept():
            signal.signal(signal.SIGQUIT, lambda *_: heard.append("a driver's"))
            os.kill(os.getpid(), signal.SIGQUIT)
            assert heard == []
        assert heard == ["ours"]
        Gpu()
        for number in (signal.SIGQUIT, signal.SIGHUP, signal.SIGQUIT):
            os.kill(os.getpid(), number)
        assert heard == ["ours"] * 3, heard
        found = []
        thread = threading.Thread(target=lambda: found.append(Gpu().info))  # where no handlers can be set
        thread.start()
        thread.join()
        assert len(found) == 1
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(program)], check=True, timeout=300)
