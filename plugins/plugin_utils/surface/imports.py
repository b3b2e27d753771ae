# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Python packages that may be missing on the controller."""

from __future__ import annotations

from types import TracebackType

from ..errors import AicrError, Code

_DISTRIBUTIONS = {"yaml": "PyYAML"}


class Imports:
    """Imports of a plugin's file whose failure its ``run()`` reports, with the line that installs what is missing.

    A file that cannot be imported fails with Ansible's own message, also where a playbook only mentions the plugin.
    Used as ``with Imports() as imports: from … import …``.
    """

    def __init__(self) -> None:
        self.problem: AicrError | None = None

    def __enter__(self) -> Imports:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if not isinstance(error, ImportError):
            return False
        package = (error.name or "").partition(".")[0]
        if package in ("", "ansible", "ansible_collections"):
            return False
        name = _DISTRIBUTIONS.get(package, package)
        self.problem = AicrError(
            Code.INTERNAL,
            f"the Python package {name} is missing on the controller ({error})",
            f"python -m pip install {name}, with the Python that runs Ansible",
            {"package": name},
        )
        return True
