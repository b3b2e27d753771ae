# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the options of a plugin say about a cluster, and documents in its ConfigMaps.

Imported where a cluster is meant, and nowhere else.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from .. import yamlio
from ..artifacts.versions import RELEASE
from ..cluster.access import Access
from ..cluster.address import Address
from ..cluster.configmap import Stored, load, store
from ..cluster.connection import Connection
from ..errors import AicrError, Code, invalid
from .options import Options
from .outcome import Diff, Document
from .path import remote_problem
from .plain import text_problem


def connect(options: Options) -> Connection:
    """The connection to the cluster that the options, or ``K8S_AUTH_*``, name.

    :raises AicrError: see :class:`Connection`.
    """
    kubeconfig = options["kubeconfig"]
    problem = None if isinstance(kubeconfig, dict) else text_problem(kubeconfig, "kubeconfig")
    if problem is None and isinstance(kubeconfig, str):
        problem = remote_problem(kubeconfig, "kubeconfig")
    if problem is not None:
        raise problem
    access = Access(
        kubeconfig=kubeconfig or None,
        context=options["context"],
        host=options["host"],
        api_key=options["api_key"],
        ca_cert=options["ca_cert"],
        validate_certs=options["validate_certs"],
        impersonate_user=options["impersonate_user"],
        impersonate_groups=tuple(options["impersonate_groups"] or ()),
        in_cluster=options["in_cluster"],
    )
    return Connection(access, options.environ)


def read_configmap(place: str, options: Options) -> object:
    """The document at ``cm://namespace/name``.

    :raises AicrError: see :func:`connect` and :func:`configmap.load`; INVALID_REQUEST for a table.
    """
    address = Address.parse(place)
    stored = load(connect(options), address)
    if stored.format == "table":
        raise invalid(f"{place}: holds a table, which no stage reads", "write it there as yaml or json")
    return yamlio.load(stored.text, place)


@dataclass(frozen=True)
class InCluster:
    """A document in a ConfigMap."""

    document: Document
    form: str
    connection: Connection

    def differs(self, dest: Address) -> bool:
        present = self._present(dest)
        if present is None:
            return True
        text = present.text.encode()
        self.document.refuse_other(text, dest)
        return present.format != self.form or self.document.differs_from(text)

    def diff(self, dest: Address) -> Diff:
        present = self._present(dest)
        before = present.text if present is not None and present.format == self.form else ""
        return [{"before_header": str(dest), "before": before, "after_header": str(dest), "after": self.document.text}]

    def store(self, dest: Address) -> None:
        self._store(dest, dry_run=False)

    def rehearse(self, dest: Address) -> None:
        """Let the server judge what would be stored; an earlier task would perhaps have made the missing namespace."""
        try:
            self._store(dest, dry_run=True)
        except AicrError as error:
            if error.code is not Code.NOT_FOUND:
                raise

    def _store(self, dest: Address, *, dry_run: bool) -> None:
        metadata = self.document.content.get("metadata") or {}
        store(
            self.connection,
            dest,
            self.document.content["kind"],
            Stored(self.document.text, self.form),
            timestamp=metadata.get("timestamp") or datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            tool_version=RELEASE,
            dry_run=dry_run,
        )

    def _present(self, dest: Address) -> Stored | None:
        try:
            return load(self.connection, dest)
        except AicrError as error:
            if error.code in (Code.NOT_FOUND, Code.INVALID_REQUEST):  # none, or something else
                return None
            raise


def in_cluster(document: Document, form: str, options: Options) -> InCluster:
    """The product for ``cm://`` as destination; see :func:`connect` for what it raises."""
    return InCluster(document, form, connect(options))
