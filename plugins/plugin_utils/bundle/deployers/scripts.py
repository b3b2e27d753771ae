# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The scripts of a Helm bundle, as functions of its folders. They run with bash and Helm 3 or 4, and nothing else.

What comes from a recipe stands in them as a quoted word, and never in a comment: a line feed ends both a comment and a
word that is not quoted.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Sequence

from ..layout import Folder

NOT_AWAITED = frozenset({"kai-scheduler"})
"""Charts whose own hooks outlast a wait for their resources."""

_NAMESPACE_OBJECT = re.compile(r"^kind:[ \t]*[\"']?Namespace[\"']?[ \t]*$", re.MULTILINE)

_INSTALL = """\
#!/usr/bin/env bash
# Installs or upgrades one Helm release; the folder is called like it.
# Arguments are passed on to helm; KUBECONFIG and KUBE_CONTEXT choose the cluster.
set -euo pipefail
cd "$(dirname "${{BASH_SOURCE[0]}}")"
{source}
arguments=(
  upgrade --install {release} {chart}
  --namespace {namespace} --create-namespace
  --values values.yaml --values cluster-values.yaml
)
{extra}if [[ -n "${{KUBE_CONTEXT:-}}" ]]; then
  arguments+=(--kube-context "${{KUBE_CONTEXT}}")
fi
exec helm "${{arguments[@]}}" "$@"
"""

_UPSTREAM = """\
# shellcheck source=/dev/null
source ./upstream.env
"""
_REPOSITORY = """\
if [[ -n "${REPO}" ]]; then
  arguments+=(--repo "${REPO}")
fi
arguments+=(--version "${VERSION}")
"""

_DEPLOY = """\
#!/usr/bin/env bash
# Installs this bundle, one release after the other. Run it again after a failure: what is there is upgraded in place.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

FOLDERS=(
@FOLDERS@
)
NOT_AWAITED=(@NOT_AWAITED@)
BACKOFF=(5 20 45 80 120)

usage() {
  cat <<'USAGE'
Usage: ./deploy.sh [--no-wait] [--best-effort] [--retries N]

  --no-wait       do not wait until the resources of a release are ready
  --best-effort   go on with the next release after a failure, and end with 0
  --retries N     try a failing release N more times (5); 0 gives up at once

KUBECONFIG and KUBE_CONTEXT choose the cluster, HELM_TIMEOUT how long to wait for one release (10m).
USAGE
}

fail() {
  printf 'deploy.sh: %s\\n' "$1" >&2
  exit "${2:-1}"
}

wait_for_resources=true
best_effort=false
retries=5
while (($#)); do
  case "$1" in
    --no-wait) wait_for_resources=false ;;
    --best-effort) best_effort=true ;;
    --retries)
      (($# > 1)) || fail "--retries needs a number" 2
      retries="$2"
      shift
      ;;
    --retries=*) retries="${1#*=}" ;;
    -h | --help)
      usage
      exit 0
      ;;
    *)
      usage >&2
      fail "unknown option: $1" 2
      ;;
  esac
  shift
done
[[ "${retries}" =~ ^[0-9]+$ ]] || fail "--retries needs a number, not ${retries}" 2
command -v helm >/dev/null || fail "helm 3 or 4 is needed on PATH"
trap 'printf "deploy.sh: stopped\\n" >&2; exit 130' INT TERM

awaited() {
  local folder
  for folder in "${NOT_AWAITED[@]:-}"; do
    [[ "${folder}" == "$1" ]] && return 1
  done
  "${wait_for_resources}"
}

install() {
  local folder="$1" attempt=0 arguments=()
  if awaited "${folder}"; then
    arguments=(--wait --timeout "${HELM_TIMEOUT:-10m}")
  fi
  until "./${folder}/install.sh" ${arguments[@]+"${arguments[@]}"}; do
    if ((attempt >= retries)); then
      return 1
    fi
    local pause="${BACKOFF[attempt < ${#BACKOFF[@]} ? attempt : ${#BACKOFF[@]} - 1]}"
    attempt=$((attempt + 1))
    printf 'deploy.sh: %s failed, attempt %d of %d follows in %d s\\n' \\
      "${folder}" "${attempt}" "${retries}" "${pause}" >&2
    sleep "${pause}"
  done
}

failed=()
for folder in "${FOLDERS[@]}"; do
  printf '==> %s\\n' "${folder}"
  if ! install "${folder}"; then
    failed+=("${folder}")
    "${best_effort}" || fail "${folder} could not be installed; mend the cause and run this script again"
  fi
done
if ((${#failed[@]})); then
  printf 'deploy.sh: not installed: %s\\n' "${failed[*]}" >&2
fi
"""


def install(folder: Folder) -> str:
    """``install.sh`` of one folder."""
    release, namespace = shlex.quote(folder.release), shlex.quote(folder.namespace)
    if folder.chart:
        return _INSTALL.format(
            release=release, namespace=namespace, source=_UPSTREAM, chart='"${CHART}"', extra=_REPOSITORY
        )
    extra = "arguments+=(--take-ownership)\n" if takes_over((folder.templates or {}).values()) else ""
    return _INSTALL.format(release=release, namespace=namespace, source="", chart=".", extra=extra)


def takes_over(templates: Iterable[str]) -> bool:
    """Whether a chart holds its namespace, which Helm makes before the chart, so that the chart has to take it over."""
    return any(_NAMESPACE_OBJECT.search(text) for text in templates)


def deploy(folders: Sequence[Folder]) -> str:
    """``deploy.sh`` over all folders, in order."""
    left_alone = [folder.path for folder in folders if folder.release in NOT_AWAITED]
    listed = "\n".join(f"  {shlex.quote(folder.path)}" for folder in folders)
    return _DEPLOY.replace("@FOLDERS@", listed).replace("@NOT_AWAITED@", " ".join(map(shlex.quote, left_alone)))
