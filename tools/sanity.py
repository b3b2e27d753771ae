# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run `ansible-test sanity` over what a commit of the working tree would hold.

ansible-test wants a Git repository at .../ansible_collections/NAMESPACE/NAME and follows no link, so the files that
Git tracks, and the new ones that it does not ignore, are copied to such a place. Arguments go to ansible-test.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[1]
TREE = CHECKOUT / ".cache" / "ansible_collections" / "aicr" / "runtime"
PYTHONS = CHECKOUT / ".cache" / "pythons"
PIP = "25.2"  # the one that ansible-test installs into its environments


def copy_working_tree() -> None:
    shutil.rmtree(TREE, ignore_errors=True)
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=CHECKOUT,
        check=True,
        capture_output=True,
        text=True,
    )
    for name in filter(None, listed.stdout.split("\0")):
        source = CHECKOUT / name
        if source.exists() or source.is_symlink():  # else: deleted, not yet committed
            (TREE / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, TREE / name, follow_symlinks=False)
    subprocess.run(["git", "init", "--quiet"], cwd=TREE, check=True)


def provide_pip() -> None:
    """ansible-test bootstraps pip from its own download site; a package index alone must do."""
    cache = Path.home() / ".ansible" / "test" / "cache"
    bootstrap = cache / f"get_pip_{PIP.replace('.', '_')}.py"
    wheel = cache / f"pip-{PIP}-py3-none-any.whl"
    if bootstrap.exists() and "Offline stand-in" not in bootstrap.read_text(encoding="utf-8"):
        return  # the real one
    cache.mkdir(parents=True, exist_ok=True)
    if not wheel.exists():
        pip = CHECKOUT / ".cache" / "uv" / "bin" / "pip"
        subprocess.run([pip, "download", "--quiet", "--no-deps", "--dest", cache, f"pip=={PIP}"], check=True)
    shutil.copyfile(CHECKOUT / "tools" / "ansible_test_get_pip.py", bootstrap)


def path_of_interpreters() -> str:
    """ansible-test runs every pythonX.Y on the PATH; pyenv's shims refuse, so what they stand for goes first."""
    versions = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    PYTHONS.mkdir(parents=True, exist_ok=True)
    for python in sorted(versions.glob("3.*/bin/python3.*")):
        if not re.fullmatch(r"python3\.\d+", python.name):
            continue
        link = PYTHONS / python.name
        link.unlink(missing_ok=True)
        link.symlink_to(python)
    # The interpreter of .venv stays ahead of them: it is the one that has Ansible.
    return os.pathsep.join([str(Path(sys.executable).parent), str(PYTHONS), os.environ["PATH"]])


def main() -> int:
    copy_working_tree()
    provide_pip()
    command = ["ansible-test", "sanity", "--venv", *sys.argv[1:]]
    return subprocess.run(command, cwd=TREE, env={**os.environ, "PATH": path_of_interpreters()}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
