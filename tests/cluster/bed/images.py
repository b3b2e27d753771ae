# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What stands for images: a bed has no registry, but a program for those images whose daemons deployments depend on."""

from __future__ import annotations

import contextlib
import fnmatch
import functools
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from .programs import CHECKOUT, DEBIAN, ensure

Start = Callable[[str, Sequence[str]], Sequence[str]]
"""The command of a container without one, from the pod's own address and the container's arguments."""

_ENTRYPOINTS = Path(__file__).with_name("entrypoints")
_OPERATORS = "ansible_collections.aicr.runtime.tests.cluster.operators"


@dataclass(frozen=True)
class Image:
    """What a container of a matching image is."""

    pattern: str
    """Of the whole reference, as fnmatch has it."""
    start: Start | None = None
    """None: it runs only what states a command, such as a Job."""
    port: int | None = None
    """Where it answers once it is ready; a readiness probe that names another port comes first."""
    tree: bool = False
    """Whether its root file system is that of debian.py, instead of this machine's."""
    as_root: bool = False
    """Whether it runs as root whatever the pod says: this Python may lie where others may not look."""
    environment: Mapping[str, str] = field(default_factory=dict)
    shown: tuple[Path, ...] = ()
    """Folders of this machine that it sees, wherever they lie."""

    @property
    def root(self) -> Path:
        """The folder that is its root file system.

        :raises Unbuildable: the tree is neither there nor can it be made.
        """
        return ensure([DEBIAN])[DEBIAN.name] if self.tree else Path("/")


def find(reference: str) -> Image | None:
    """The entry of an image, if it has one."""
    return next((one for one in table() if fnmatch.fnmatchcase(reference, one.pattern)), None)


@functools.cache
def table() -> tuple[Image, ...]:
    """All entries; the first that matches counts."""
    return (
        _operator("*mariadb-operator[:@]*", "mariadb", _real_mariadb_operator()),
        _stand_in("*slurm-operator-webhook[:@]*", "slurm_webhook"),
        _operator("*slurm-operator[:@]*", "slurm", _real_slurm_operator()),
        _stand_in("*cert-manager-controller[:@]*", "cert_manager"),
        Image("*mariadb[:@]*", _script("mariadb"), 3306, tree=True),
        Image("*slurmdbd[:@]*", _script("slurmdbd"), 6819, tree=True),
        Image("*slurmctld[:@]*", _script("slurmctld"), 6817, tree=True),
        Image("*login*[:@]*", tree=True),
    )


def _script(name: str) -> Start:
    """An entrypoint of entrypoints/, in the words of the tree's bash."""
    text = (_ENTRYPOINTS / f"{name}.sh").read_text(encoding="utf-8")
    return lambda _address, arguments: ["bash", "-c", text, name, *arguments]


# ---- operators


def _operator(pattern: str, module: str, real: Image | None) -> Image:
    return real or _stand_in(pattern, module)


def _stand_in(pattern: str, module: str) -> Image:
    command = [sys.executable, "-m", f"{_OPERATORS}.{module}"]
    folders = {CHECKOUT, Path(sys.prefix), Path(sys.base_prefix)}
    return Image(pattern, lambda _address, arguments: [*command, *arguments], as_root=True, shown=tuple(folders))


def _real_mariadb_operator() -> Image | None:
    """Flags and environment: spec/slurm-accounting.md 5.2. The webhook and its cert controller stay stand-ins."""
    program = os.environ.get("AICR_TEST_MARIADB_OPERATOR")
    if not program:
        return None
    stand_in = _stand_in("*mariadb-operator[:@]*", "mariadb")
    flags = ["--metrics-addr=0", "--log-level=debug", "--log-sql", "--requeue-sql=15s", "--requeue-sql-max-offset=1s"]

    def start(address: str, arguments: Sequence[str]) -> Sequence[str]:
        if stand_in.start and arguments and arguments[0] in ("webhook", "cert-controller"):
            return stand_in.start(address, arguments)
        return [program, *flags, f"--health-addr={address}:8081"]

    names = ("IMAGE", "NAME", "NAMESPACE", "SA_PATH")
    related = ("EXPORTER", "EXPORTER_MAXSCALE", "MARIADB", "MARIADB_NAME", "MAXSCALE")
    environment = {
        **dict.fromkeys((f"MARIADB_OPERATOR_{name}" for name in names), "mariadb-operator"),
        **dict.fromkeys((f"RELATED_IMAGE_{name}" for name in related), "mariadb:11.8.8"),
        "MARIADB_DEFAULT_VERSION": "11.8",
        "MARIADB_GALERA_LIB_PATH": "/usr/lib/galera/libgalera_smm.so",
    }
    shown = (*stand_in.shown, Path(program).resolve())
    return Image(stand_in.pattern, start, as_root=True, environment=environment, shown=shown)


def _real_slurm_operator() -> Image | None:
    """Flags: spec/slurm-accounting.md 5.2."""
    program = os.environ.get("AICR_TEST_SLURM_OPERATOR")
    if not program:
        return None

    def start(address: str, _arguments: Sequence[str]) -> Sequence[str]:
        return [program, "--metrics-addr=0", f"--health-addr={address}:8081"]

    return Image("*slurm-operator[:@]*", start, as_root=True, shown=(Path(program).resolve(),))


# ---- what tests change about them


@dataclass(frozen=True)
class Setting:
    """What a test wants of containers that start from now on."""

    environment: Mapping[str, str]
    delay: float
    """Seconds from the start of the container to that of the program."""


@dataclass(frozen=True)
class ImageSettings:
    """Settings by image, in a file of the bed, since the kubelet that obeys them is a process of its own."""

    file: Path

    @contextlib.contextmanager
    def changed(self, pattern: str, delay: float = 0.0, **environment: str) -> Iterator[None]:
        """Have containers of images that match start late or with further variables, while in the block."""
        self.set(pattern, delay, **environment)
        try:
            yield
        finally:
            self._write({key: one for key, one in self._all().items() if key != pattern})

    def set(self, pattern: str, delay: float = 0.0, **environment: str) -> None:
        """The same for as long as the bed lives; it replaces what was set for the pattern before."""
        self._write({**self._all(), pattern: Setting(environment, delay)})

    def of(self, reference: str) -> Setting:
        """What is set for an image, of all patterns that match."""
        found = [one for pattern, one in self._all().items() if fnmatch.fnmatchcase(reference, pattern)]
        environment = {name: value for one in found for name, value in one.environment.items()}
        return Setting(environment, max((one.delay for one in found), default=0.0))

    def _all(self) -> dict[str, Setting]:
        if not self.file.exists():
            return {}
        document = json.loads(self.file.read_text(encoding="utf-8"))
        return {pattern: Setting(**one) for pattern, one in document.items()}

    def _write(self, settings: Mapping[str, Setting]) -> None:
        new = self.file.with_suffix(".new")
        new.write_text(json.dumps({pattern: vars(one) for pattern, one in settings.items()}), encoding="utf-8")
        new.rename(self.file)
