# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a secret has got to: in the objects of a cluster, in files, in what was said, in the list of processes."""

from __future__ import annotations

import base64
import binascii
import gzip
import json
import threading
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from ansible_collections.aicr.runtime.tests.cluster.bed import Object


class Processes:
    """The command lines of all processes of this machine, looked at again and again while in the block."""

    def __init__(self, seconds: float = 0.1) -> None:
        self.seen: set[str] = set()
        self._seconds, self._end = seconds, threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> Processes:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._end.wait(self._seconds):
            for line in Path("/proc").glob("[0-9]*/cmdline"):
                try:
                    self.seen.add(line.read_bytes().replace(b"\0", b" ").decode("utf-8", "replace"))
                except OSError:  # it has ended
                    continue


def in_texts(secrets: Iterable[str], texts: Iterable[str]) -> list[str]:
    """The text around each secret that is found, also in base64, with the secret itself left out."""
    found = []
    for text in texts:
        for secret in secrets:
            for form in (secret, base64.b64encode(secret.encode()).decode()):
                before, is_there, after = text.partition(form)
                if is_there:
                    found.append(f"{before[-80:]}<SECRET>{after[:40]}")
    return found


def in_files(secrets: Iterable[str], folder: Path) -> list[str]:
    """Files below a folder that hold a secret."""
    files = [file for file in folder.rglob("*") if file.is_file()]
    return [str(file) for file in files if in_texts(secrets, [file.read_text("utf-8", "replace")])]


def in_objects(secrets: Iterable[str], objects: Mapping[str, Object]) -> set[str]:
    """Objects that hold a secret anywhere, also packed as Helm packs a release."""
    return {name for name, one in objects.items() if any(in_texts(secrets, [text]) for text in _texts(one))}


def _texts(value: Any) -> Iterator[str]:
    """Every text in a document, and each that is base64 or gzip also as what it packs."""
    if isinstance(value, Mapping):
        for key, one in value.items():
            yield from _texts(key)
            yield from _texts(one)
    elif isinstance(value, list):
        for one in value:
            yield from _texts(one)
    elif isinstance(value, str):
        yield value
        if len(value) >= 8:
            yield from _unpacked(value)


def _unpacked(text: str) -> Iterator[str]:
    try:
        raw = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return
    if raw.startswith(b"\x1f\x8b"):
        inside = gzip.decompress(raw).decode("utf-8", "replace")
        yield inside
        yield from _texts(json.loads(inside))
    else:
        yield from _texts(raw.decode("utf-8", "replace"))
