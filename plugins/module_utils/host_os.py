# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The operating system of a host: release, kernel command line, modules, sysctl (spec/surface.md 3.4)."""

from __future__ import annotations

import errno
import os
import re
import stat
from functools import partial

from ansible_collections.aicr.runtime.plugins.module_utils.findings import Findings
from ansible_collections.aicr.runtime.plugins.module_utils.rootfs import RootFs, read_text

SYSCTL = "/proc/sys"

# Settings that a GPU node is tuned or checked by. Anything else stays out: a command line may hold credentials.
_CMDLINE = re.compile(
    r"BOOT_IMAGE|amd_iommu|amd_pstate|apparmor|audit|cgroup_enable|cgroup_no_v1|clocksource|cma|cpufreq\.default_governor"
    r"|cpuidle\.off|crashkernel|default_hugepagesz|fips|hugepages|hugepagesz|idle|init_on_alloc|init_on_free"
    r"|intel_idle\.max_cstate|intel_iommu|intel_pstate|iommu|iommu\.passthrough|iommu\.strict|irqaffinity|isolcpus"
    r"|kernelcore|l1tf|lockdown|lsm|maxcpus|mds|mem|mitigations|modprobe\.blacklist|module\.sig_enforce|module_blacklist"
    r"|movablecore|net\.ifnames|nmi_watchdog|nohz|nohz_full|nokaslr|nomodule|nopti|nosmt|nosoftlockup|nouveau\.modeset"
    r"|nowatchdog|nr_cpus|numa|numa_balancing|nvidia([-_](drm|modeset|uvm))?\.\w+|panic|pci|pcie_acs_override|pcie_aspm"
    r"|pcie_ports|preempt|processor\.max_cstate|psi|pti|rcu_nocb_poll|rcu_nocbs|rd\.driver\.blacklist|security|selinux"
    r"|skew_tick|spec_store_bypass_disable|spectre_v2|swapaccount|systemd\.unified_cgroup_hierarchy|transparent_hugepage"
    r"|tsc|tsx"
)

# Directories that are no settings (or whose mere listing mounts something), and keys that change by themselves.
_SYSCTL_SKIPPED = re.compile(r"net|dev/cdrom|fs/binfmt_misc|fs/quota|kernel/sched_domain|kernel/spl")
_SYSCTL_VOLATILE = re.compile(
    r"fs/(aio-nr|dentry-state|dqstats|file-nr|inode-nr|inode-state)|kernel/hung_task_detect_count|kernel/ns_last_pid"
    r"|kernel/perf_event_max_sample_rate|kernel/pty/nr|kernel/random/(boot_id|entropy_avail|uuid)"
)
_PAIR = re.compile(r"(\S+?)\s*[:=\s]\s*(\S.*)")


def collect(fs: RootFs, found: Findings) -> None:
    """Read every subtype that can be read; each of the others is a gap of its own."""
    denied: list[str] = []
    for subtype, read in (("release", release), ("grub", grub), ("kmod", kmod), ("sysctl", partial(sysctl, denied))):
        try:
            found.add(subtype, read(fs))
        except OSError as error:
            found.gap(error, subtype)
    if denied:
        found.gap("this user may not read " + ", ".join(sorted(denied)), "sysctl")


def release(fs: RootFs) -> dict[str, object]:
    """The keys of os-release, without quotes and without empty ones."""
    place = "/etc/os-release" if fs.exists("/etc/os-release") else "/usr/lib/os-release"
    data: dict[str, object] = {}
    for line in fs.text(place).splitlines():
        key, _equals, value = line.strip().partition("=")
        value = value.strip("\"'")
        if value and not key.startswith("#"):
            data[key] = value
    return data


def grub(fs: RootFs) -> dict[str, object]:
    """The allowed parameters of the kernel command line; of one given twice the last counts, as for most of them.

    What stands behind a lone ``--`` is meant for init, not for the kernel.
    """
    data: dict[str, object] = {}
    for word in re.findall(r'(?:[^\s"]|"[^"]*"?)+', fs.text("/proc/cmdline")):
        if word == "--":
            break
        key, _equals, value = word.replace('"', "").partition("=")
        if _CMDLINE.fullmatch(key):
            data[key] = value
    return data


def kmod(fs: RootFs) -> dict[str, object]:
    """Each loaded module."""
    return {line.split()[0]: True for line in fs.text("/proc/modules").splitlines() if line.strip()}


def sysctl(denied: list[str], fs: RootFs) -> dict[str, object]:
    """Each kernel setting by its full path; a file of several keys gives a reading for each, ``path/key``.

    :param denied: takes the keys that this user may not read.
    """
    base = fs.place(SYSCTL)
    data: dict[str, object] = {}
    if not fs.names(SYSCTL):
        raise OSError(errno.ENODATA, "nothing is mounted there", SYSCTL)
    for folder, folders, files in os.walk(base):
        inside = os.path.relpath(folder, base)
        prefix = "" if inside == "." else inside + "/"
        folders[:] = sorted(name for name in folders if not _SYSCTL_SKIPPED.fullmatch(prefix + name))
        for name in files:
            key, path = prefix + name, os.path.join(folder, name)
            if _SYSCTL_VOLATILE.fullmatch(key):
                continue
            try:
                mode = os.lstat(path).st_mode
                if stat.S_ISREG(mode) and mode & 0o444:
                    data.update(_setting(f"{SYSCTL}/{key}", read_text(path).strip()))
            except PermissionError:
                denied.append(key)
            except OSError:
                continue  # the kernel knows the key, but this machine has nothing behind it
    return data


def _setting(key: str, text: str) -> dict[str, object]:
    lines = text.splitlines()
    pairs = [_PAIR.fullmatch(line.strip()) for line in lines]
    if len(lines) > 1 and all(pairs):
        return {f"{key}/{pair.group(1)}": pair.group(2) for pair in pairs if pair}
    return {key: text}
