# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A folder with MariaDB and Slurm from Debian's packages, as the root file system of containers.

Nothing is installed on this machine: packages are fetched with a state of apt's own, and unpacked. How this was found
out, and why each step is needed: spec/testbed.md section 5.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

SUITE = "forky"
_KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
_ARCHIVE = re.compile(r"^\s*(?:URIs:|deb\s+(?:\[[^]]*\]\s+)?)\s*(https?://\S+/debian)/?(?:\s|$)", re.MULTILINE)
_NEEDLESS = ("doc", "doc-base", "info", "lintian", "locale", "man", "mariadb/mini-benchmark")
_FILES = {
    "etc/passwd": "root:x:0:0::/root:/bin/bash\nslurm:x:401:401::/:/bin/bash\nmysql:x:999:999::/:/bin/bash\n"
    "nobody:x:65534:65534::/:/usr/sbin/nologin\n",
    "etc/group": "root:x:0:\nslurm:x:401:\nmysql:x:999:\nnogroup:x:65534:\n",
    "etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
    # As the image mariadb has it; what Debian's own servers are set to does not count here.
    "etc/mysql/my.cnf": "[client-server]\nsocket = /run/mysqld/mysqld.sock\n!includedir /etc/mysql/conf.d/\n",
}
_LINKS = {"usr/bin/sh": "dash", "usr/sbin/slurmctld": "slurmctld-wlm"}
_FOLDERS = {"run/mysqld": 999, "run/slurm": 401, "run/slurmdbd": 401, "var/lib/mysql": 999, "etc/slurm": 0, "tmp": 0}
"""With their owners; slurmdbd does not make its folder itself."""


class Unbuildable(Exception):
    """A program can be neither found in the cache nor made; the message says what is missing."""


@dataclass(frozen=True)
class PackageSet:
    """Packages of one suite, with what they depend on, unpacked into one tree."""

    name: str
    packages: tuple[str, ...]
    minimum: Mapping[str, str]
    """Versions by package; the archive moves on, so what is newer will do."""

    @property
    def programs(self) -> tuple[str, ...]:
        return (self.name,)

    def key(self) -> str:
        made_from = [SUITE, *self.packages, repr(self.minimum), repr((_FILES, _LINKS, _FOLDERS, _NEEDLESS))]
        return f"{self.name}-{SUITE}-{hashlib.sha256(chr(0).join(made_from).encode()).hexdigest()[:12]}"

    def make(self, into: Path) -> None:
        """Fetch, check and unpack the packages into a folder with the name of the set.

        :raises Unbuildable: this is no Debian, its archive does not answer, or has an older version.
        """
        tree = into / self.name
        tree.mkdir()
        with tempfile.TemporaryDirectory(dir=into.parent) as scratch:
            for package in self._fetch(Path(scratch)):
                _run(["dpkg-deb", "--extract", str(package), str(tree)])
        for place in _NEEDLESS:
            shutil.rmtree(tree / "usr/share" / place, ignore_errors=True)
        for name, text in _FILES.items():
            (tree / name).write_text(text, encoding="utf-8")
        for name, target in _LINKS.items():
            (tree / name).unlink(missing_ok=True)
            (tree / name).symlink_to(target)
        for name, owner in _FOLDERS.items():
            (tree / name).mkdir(parents=True, exist_ok=True)
            os.chown(tree / name, owner, owner)
        (tree / "tmp").chmod(0o1777)

    def _fetch(self, scratch: Path) -> list[Path]:
        if not all(map(shutil.which, ("apt-get", "dpkg-deb"))) or not _KEYRING.exists():
            raise Unbuildable(f"{self.name} comes from Debian's packages: that needs apt, dpkg and {_KEYRING}")
        for folder in ("state/lists/partial", "cache/archives/partial"):
            (scratch / folder).mkdir(parents=True)
        (scratch / "status").touch()  # nothing is installed, so libc comes along, too: the machine's is older
        source = f"deb [signed-by={_KEYRING}] {archive(Path('/etc/apt'))} {SUITE} main\n"
        (scratch / "sources.list").write_text(source, encoding="utf-8")
        options = {
            "Dir::State": "state",
            "Dir::State::status": "status",
            "Dir::Cache": "cache",
            "Dir::Etc::sourcelist": "sources.list",
        }
        apt = ["apt-get", "-qq", "-oDir::Etc::sourceparts=-", "-oAPT::Sandbox::User=root"]
        apt += [f"-o{option}={scratch / place}" for option, place in options.items()]
        _run([*apt, "update"])
        _run([*apt, "--yes", "--no-install-recommends", "--download-only", "install", *self.packages])
        packages = sorted((scratch / "cache/archives").glob("*.deb"))
        self.check(packages)
        return packages

    def check(self, packages: Iterable[Path]) -> None:
        """:raises Unbuildable: one of them is older than it must be, or is not there."""
        found = {}
        for package in packages:
            answer = subprocess.run(
                ["dpkg-deb", "--show", package], check=True, capture_output=True, text=True
            ).stdout.split()
            found[answer[0].partition(":")[0]] = answer[1]
        for name, least in self.minimum.items():
            have = found.get(name)
            older = ["dpkg", "--compare-versions", have or "0", "lt", least]
            if not subprocess.run(older, check=False).returncode:
                raise Unbuildable(f"{name} {least} or newer is needed, and Debian {SUITE} has {have or 'none'}")


def archive(apt: Path) -> str:
    """The archive that this machine itself gets packages from, by the configuration of its apt.

    :raises Unbuildable: none is a whole archive of Debian.
    """
    for place in (apt / "sources.list", *sorted((apt / "sources.list.d").glob("*"))):
        if place.is_file() and place.suffix in (".list", ".sources"):
            match = _ARCHIVE.search(place.read_text(encoding="utf-8"))
            if match:
                return match[1]
    raise Unbuildable("no source of apt on this machine ends in /debian: MariaDB and Slurm cannot be fetched")


def _run(command: list[str]) -> None:
    try:
        subprocess.run(["nice", "-n", "19", *command], check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    except subprocess.CalledProcessError as error:
        raise Unbuildable(f"exit code {error.returncode} of: {' '.join(command)}") from None
