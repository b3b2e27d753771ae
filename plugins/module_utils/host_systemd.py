# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The services of a host that run containers, as systemd describes them (spec/surface.md 3.4)."""

from __future__ import annotations

import os
import re
import subprocess

from ansible_collections.aicr.runtime.plugins.module_utils.findings import Findings
from ansible_collections.aicr.runtime.plugins.module_utils.rootfs import MAX_BYTES, RootFs

UNITS = ("containerd.service", "docker.service", "kubelet.service")

# May hold a secret: environment, credentials, data for standard input, and command lines.
_SECRET = r".*Environment.*|.*Credential.*|StandardInputData|Exec.*"
# Changes by itself, or with every restart.
_VOLATILE = (
    r".*Current|CPUUsage.*|IO.*|IP.*|NRestarts|.*Timestamp.*|.*PID|.*Peak|.*Available|InvocationID|ControlGroupId|Job"
    r"|StatusText|StatusErrno|NFileDescriptorStore"
)
_LEFT_OUT = re.compile(f"{_SECRET}|{_VOLATILE}")
# Every property that is of use has a small letter in its name; a line that strays from some value hardly passes.
_PROPERTY = re.compile(r"([A-Z][A-Za-z0-9]*[a-z][A-Za-z0-9]*)=(.*)")
# systemctl prints a boolean as yes or no; these are words that merely look like one.
_WORDS = re.compile(r"Restart|ProtectHome|ProtectSystem|RuntimeDirectoryPreserve|OOMPolicy|.*Ex")
# Lists of units come in the order of a hash table.
_UNIT_LISTS = re.compile(
    r"Names|After|Before|Wants|WantedBy|Requires|RequiredBy|Requisite|RequisiteOf|BindsTo|BoundBy|PartOf|ConsistsOf|Upholds"
    r"|UpheldBy|Conflicts|ConflictedBy|Triggers|TriggeredBy|OnFailure|OnFailureOf|OnSuccess|OnSuccessOf|RequiresMountsFor"
    r"|WantsMountsFor|PropagatesReloadTo|ReloadPropagatedFrom|PropagatesStopTo|StopPropagatedFrom|JoinsNamespaceOf"
)


def collect(fs: RootFs, found: Findings, timeout: float) -> None:
    """Read the units by one ``systemctl show``; in another root by way of chroot, so that it is the host's own."""
    command = ["systemctl", "show", "--no-pager", "--", *UNITS]
    if fs.root != "/":
        command = ["chroot", fs.root, *command]
    # systemctl ignores what it is told in a chroot, unless told otherwise.
    environment = dict(os.environ, LC_ALL="C", SYSTEMD_COLORS="0", SYSTEMD_IGNORE_CHROOT="1")
    try:
        answer = subprocess.run(  # pylint: disable=ansible-bad-function  # run_command knows no timeout
            command, capture_output=True, check=False, stdin=subprocess.DEVNULL, timeout=timeout, env=environment
        )
    except FileNotFoundError:
        found.gap(f"there is no {command[0]} to ask")
        return
    except subprocess.TimeoutExpired:
        found.gap(f"systemctl did not answer within {timeout:g} s")
        return
    if answer.returncode or not answer.stdout.strip():
        complaint = answer.stderr.decode("utf-8", "replace").strip() or f"exit code {answer.returncode}, no output"
        found.gap("systemctl show: " + complaint.splitlines()[0])
        return
    described = parse(answer.stdout[:MAX_BYTES].decode("utf-8", "replace"))
    for unit in UNITS:
        if unit in described:
            found.add(unit, described[unit])
        else:
            found.gap("systemctl says nothing of it", unit)


def parse(text: str) -> dict[str, dict[str, object]]:
    """The readings of each unit in the output of ``systemctl show``, by every name it goes by.

    Of a unit that is not installed only that is kept: the rest is what systemd would assume of any unit.
    """
    units: dict[str, dict[str, object]] = {}
    for block in text.split("\n\n"):
        pairs = [pair.groups() for pair in map(_PROPERTY.fullmatch, block.splitlines()) if pair]
        data = {key: _reading(key, value) for key, value in pairs if value and not _LEFT_OUT.fullmatch(key)}
        if data.get("LoadState") == "not-found":
            data = {key: data[key] for key in ("ActiveState", "LoadState", "SubState", "Names", "Id") if key in data}
        for name in {*str(data.get("Names", "")).split(), data.get("Id")}:
            units[str(name)] = data
    return units


def _reading(key: str, value: str) -> object:
    if value in ("yes", "no") and not _WORDS.fullmatch(key):
        return value == "yes"
    return " ".join(sorted(value.split())) if _UNIT_LISTS.fullmatch(key) else value
