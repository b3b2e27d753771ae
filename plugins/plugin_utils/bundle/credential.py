# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Secrets are references: no credential enters a bundle, which lives in Git (DESIGN, principle 5)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from .value_path import Path, dotted

_CREDENTIAL = re.compile(
    r"(?:password|passwd|token|secret|(?:api|private|secret|secret[-_]?access)[-_]?key)$", re.IGNORECASE
)
_KEY_OF_SECRET = re.compile(r"secret(?:[-_]?access)?[-_]?key$", re.IGNORECASE)
_REFERENCE = re.compile(r"(?:Ref|Name)$|^existing[A-Z]|_(?:ref|name)$")


def credentials(value: object, path: Path) -> Iterator[str]:
    """The paths at which a value would carry a credential in the clear; never the value.

    A key that ends in ``Ref``, ``KeyRef`` or ``Name`` names a Secret, and so does all that lies below it.
    A boolean is a switch, such as ``automountServiceAccountToken``. A ``secretKey`` is one half of the key pair of an
    object store, unless it stands beside the reference to a Secret, whose key it names then: ``existingSecret``,
    ``secretName``, ``remoteRef``. What else ends in ``Key``, such as ``passwordKey``, names a key of a Secret always.
    """
    if any(_REFERENCE.search(key) for key in path):
        return
    if isinstance(value, Mapping):
        refers = any(_REFERENCE.search(str(key)) for key in value)
        for key, item in value.items():
            if not (refers and _KEY_OF_SECRET.search(str(key))):
                yield from credentials(item, (*path, str(key)))
        named = value.get("name")  # an environment variable: {name: DB_PASSWORD, value: …}
        if isinstance(named, str) and "value" in value:
            yield from credentials(value["value"], (*path, named))
    elif isinstance(value, list):
        for item in value:
            yield from credentials(item, path)
    elif path and _CREDENTIAL.search(path[-1]) and value not in (None, "") and not isinstance(value, bool):
        yield dotted(path)
