# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Helm releases of the charts here, for as long as a test needs them."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .bed import Bed


@dataclass(frozen=True)
class Helm:
    """Helm 4 on a bed, with a folder of charts."""

    bed: Bed
    charts: Path

    def __call__(self, *words: str) -> str:
        """Its output.

        :raises AssertionError: it failed.
        """
        command = [str(self.bed.programs["helm"]), *words, "--kubeconfig", str(self.bed.kubeconfig)]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        assert done.returncode == 0, f"helm {' '.join(words)}: {done.stderr}"
        return done.stdout

    def release(self, release: str, chart: str, namespace: str, *options: str) -> None:
        """Install it, or upgrade it."""
        (archive,) = self.charts.glob(f"{chart}-[0-9v]*.tgz")
        self("upgrade", "--install", release, str(archive), "-n", namespace, "--create-namespace", *options)

    @contextlib.contextmanager
    def installed(self, release: str, chart: str, namespace: str, *options: str) -> Iterator[None]:
        """The release, while in the block."""
        self.release(release, chart, namespace, *options)
        try:
            yield
        finally:
            self("uninstall", release, "-n", namespace, "--ignore-not-found", "--wait")
