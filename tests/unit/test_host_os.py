# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is read of an operating system, and above all what is not (spec/surface.md 3.4)."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.aicr.runtime.plugins.module_utils import host_os, rootfs
from ansible_collections.aicr.runtime.plugins.module_utils.findings import Findings
from ansible_collections.aicr.runtime.plugins.module_utils.rootfs import RootFs

HOST = {
    "etc/os-release": '# of Canonical\nNAME="Ubuntu"\nID=ubuntu\nVERSION_ID="24.04"\nVARIANT=\n\nLOGO=\'u\'\n',
    "proc/cmdline": "BOOT_IMAGE=/vmlinuz-6.8.0 hugepagesz=1G hugepages=5128 nokaslr\n",
    "proc/modules": "nvidia 1 0 - Live 0x0 (POE)\nip_tables 2 1 x, Live 0x0\n",
    "proc/sys/kernel/osrelease": "6.8.0-1028-aws\n",
}


def write(root: Path, files: dict[str, str]) -> RootFs:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return RootFs(str(root))


def collected(root: Path, files: dict[str, str]) -> Findings:
    found = Findings("OS")
    host_os.collect(write(root, files), found)
    return found


def sysctl(root: Path, files: dict[str, str]) -> dict[str, object]:
    return host_os.sysctl([], write(root, {f"proc/sys/{name}": text for name, text in files.items()}))


def cmdline(root: Path, text: str) -> dict[str, object]:
    return host_os.grub(write(root, {"proc/cmdline": text}))


def test_a_host_that_has_everything_gives_four_subtypes_and_no_gap(tmp_path: Path) -> None:
    found = collected(tmp_path, HOST)
    assert found.gaps == []
    assert found.subtypes == {
        "release": {"NAME": "Ubuntu", "ID": "ubuntu", "VERSION_ID": "24.04", "LOGO": "u"},
        "grub": {"BOOT_IMAGE": "/vmlinuz-6.8.0", "hugepagesz": "1G", "hugepages": "5128", "nokaslr": ""},
        "kmod": {"nvidia": True, "ip_tables": True},
        "sysctl": {"/proc/sys/kernel/osrelease": "6.8.0-1028-aws"},
    }


@pytest.mark.parametrize(
    ("lost", "subtype"),
    [("etc/os-release", "release"), ("proc/cmdline", "grub"), ("proc/modules", "kmod"), ("proc/sys/kernel", "sysctl")],
)
def test_each_missing_source_is_a_gap_of_its_own_and_the_others_stand(tmp_path: Path, lost: str, subtype: str) -> None:
    found = collected(tmp_path, {name: text for name, text in HOST.items() if not name.startswith(lost)})
    assert [gap.partition(":")[0] for gap in found.gaps] == [f"OS.{subtype}"]
    assert set(found.subtypes) == {"release", "grub", "kmod", "sysctl"} - {subtype}


def test_the_release_of_the_vendor_counts_where_the_machine_has_none(tmp_path: Path) -> None:
    assert host_os.release(write(tmp_path, {"usr/lib/os-release": "ID=cos\n"})) == {"ID": "cos"}


def test_a_link_of_the_host_does_not_lead_out_of_its_tree(tmp_path: Path) -> None:
    fs = write(tmp_path, {"usr/lib/os-release": "ID=cos\n"})
    (tmp_path / "etc").mkdir()
    for target in ("/usr/lib/os-release", "../../../../usr/lib/os-release"):
        (tmp_path / "etc/os-release").unlink(missing_ok=True)
        (tmp_path / "etc/os-release").symlink_to(target)
        assert host_os.release(fs) == {"ID": "cos"}


def test_links_that_go_round_are_a_gap(tmp_path: Path) -> None:
    fs = write(tmp_path, HOST)
    (tmp_path / "proc/cmdline").unlink()
    (tmp_path / "proc/cmdline").symlink_to("/proc/cmdline")
    found = Findings("OS")
    host_os.collect(fs, found)
    assert found.gaps == ["OS.grub: /proc/cmdline: Too many levels of symbolic links"]


@pytest.mark.parametrize(
    "secret",
    [
        "root=UUID=0b1e",
        "systemd.setenv=TOKEN=abc",
        "systemd.set_credential=db:hunter2",
        "rd.luks.key=/k",
        "ds=nocloud;p=hunter2",
        "password=hunter2",
        "nvidiax.key=1",
    ],
)
def test_only_known_settings_of_the_command_line_are_read(tmp_path: Path, secret: str) -> None:
    assert cmdline(tmp_path, f"{secret} iommu=pt") == {"iommu": "pt"}


def test_what_is_meant_for_init_is_no_setting_of_the_kernel(tmp_path: Path) -> None:
    assert cmdline(tmp_path, "iommu=pt -- iommu=off panic=1") == {"iommu": "pt"}


def test_a_quoted_value_is_one_value_and_its_words_are_no_settings(tmp_path: Path) -> None:
    read = cmdline(tmp_path, 'pci="realloc=on x" other="a iommu=off" nvidia.NVreg_RegistryDwords="A=1;B=2"')
    assert read == {"pci": "realloc=on x", "nvidia.NVreg_RegistryDwords": "A=1;B=2"}


def test_the_last_of_a_setting_that_is_given_twice_counts(tmp_path: Path) -> None:
    assert cmdline(tmp_path, "hugepages=1 hugepages=2") == {"hugepages": "2"}


@pytest.mark.parametrize(
    "name",
    [
        "fs/file-nr",
        "fs/inode-nr",
        "fs/inode-state",
        "fs/dentry-state",
        "fs/aio-nr",
        "fs/quota/lookups",
        "kernel/ns_last_pid",
        "kernel/pty/nr",
        "kernel/random/uuid",
        "kernel/random/boot_id",
        "kernel/random/entropy_avail",
        "kernel/perf_event_max_sample_rate",
        "kernel/sched_domain/cpu0/domain0/max_newidle_lb_cost",
        "net/ipv4/ip_forward",
        "dev/cdrom/info",
        "fs/binfmt_misc/status",
    ],
)
def test_keys_that_change_by_themselves_or_are_no_settings_stay_out(tmp_path: Path, name: str) -> None:
    assert sysctl(tmp_path, {name: "1", "vm/swappiness": "60"}) == {"/proc/sys/vm/swappiness": "60"}


def test_a_key_that_merely_resembles_one_that_is_left_out_is_read(tmp_path: Path) -> None:
    assert set(sysctl(tmp_path, {"fs/file-max": "1", "kernel/random/poolsize": "256", "kernel/net": "1"})) == {
        "/proc/sys/fs/file-max",
        "/proc/sys/kernel/random/poolsize",
        "/proc/sys/kernel/net",
    }


def test_a_file_of_keys_and_values_gives_a_reading_for_each_and_any_other_text_stays_whole(tmp_path: Path) -> None:
    assert sysctl(tmp_path, {"a/info": "speed: 4\nmode = x y\n", "a/modes": "file\npipe\n", "a/one": "4 4 1 7"}) == {
        "/proc/sys/a/info/speed": "4",
        "/proc/sys/a/info/mode": "x y",
        "/proc/sys/a/modes": "file\npipe",
        "/proc/sys/a/one": "4 4 1 7",
    }


def test_links_and_keys_that_can_only_be_written_are_no_readings(tmp_path: Path) -> None:
    fs = write(tmp_path, {"proc/sys/vm/swappiness": "60", "proc/sys/vm/compact_memory": "1"})
    (tmp_path / "proc/sys/vm/compact_memory").chmod(0o200)
    (tmp_path / "proc/sys/vm/link").symlink_to("swappiness")
    denied: list[str] = []
    assert host_os.sysctl(denied, fs) == {"/proc/sys/vm/swappiness": "60"}
    assert denied == []


def test_keys_that_this_user_may_not_read_are_one_gap_that_names_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: str) -> str:
        if path.endswith(("cad_pid", "usermodehelper/bset")):
            raise PermissionError(13, "Permission denied", path)
        return rootfs.read_text(path)

    monkeypatch.setattr(host_os, "read_text", refuse)
    names = {"proc/sys/kernel/usermodehelper/bset": "1", "proc/sys/kernel/cad_pid": "1"}
    found = collected(tmp_path, {**HOST, **names})
    assert found.gaps == ["OS.sysctl: this user may not read kernel/cad_pid, kernel/usermodehelper/bset"]
    assert found.subtypes["sysctl"] == {"/proc/sys/kernel/osrelease": "6.8.0-1028-aws"}


def test_a_file_beyond_the_bound_is_a_gap_and_never_half_a_reading(tmp_path: Path) -> None:
    fits = "x" * (rootfs.MAX_BYTES - 5)
    assert collected(tmp_path, {**HOST, "etc/os-release": f"NAME={fits}"}).subtypes["release"] == {"NAME": fits}
    found = collected(tmp_path, {**HOST, "etc/os-release": f"NAME={fits}x"})
    assert "release" not in found.subtypes
    assert found.gaps == [f"OS.release: {tmp_path}/etc/os-release: holds more than {rootfs.MAX_BYTES} bytes"]


def test_nothing_below_the_root_is_written(tmp_path: Path) -> None:
    fs = write(tmp_path, HOST)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    host_os.collect(fs, Findings("OS"))
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before
