# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: release
short_description: Bring Helm releases about, several at once
version_added: 0.1.0
author:
  - AICR Runtime contributors (@aicr)
description:
  - Reads through the API what is installed, and starts C(helm) once for each release that is not as it shall be. Where
    nothing is to be done, C(helm) is not started, and need not be there.
  - A release is installed or upgraded if it is absent, if its newest revision is not C(deployed), or if the name, the
    version or the content of its chart or any of its values differ, or if an object of it is not there any more.
    What a chart renders does not count, so a chart that makes a random password is not installed anew each time, and
    an object that somebody has edited stays so. Jobs and pods may be over.
  - The content of a chart is known where the chart lies on the controller. It is kept as the label
    C(aicr.run/chart-digest) of the release.
  - A release in the middle of an operation (C(pending-install), C(pending-upgrade), C(pending-rollback),
    C(uninstalling)) fails the task before anything is written, with the command that gets it out of there. It is never
    forced, as nobody can tell a C(helm) that works elsewhere from one that was killed.
  - The task ends when C(helm) does. C(helm) waits for the hooks of a chart, but not until its pods are ready.
  - Nothing of the environment reaches C(helm) but C(PATH), C(TMPDIR), the proxies (C(HTTPS_PROXY), C(NO_PROXY)) and
    C(SSL_CERT_FILE). Credentials and values travel by files that only the user of Ansible can read and that go when
    C(helm) has ended. A token that an exec plugin of the kubeconfig hands out must outlast one C(helm).
options:
  releases:
    description:
      - The releases. Those of one component are brought about in the order given, and the first failure leaves the rest
        of them undone. Components do not wait for each other.
      - All releases are worked on before the task fails. The error tells everything that went wrong.
    type: list
    elements: dict
    required: true
    suboptions:
      name:
        description: The name of the release.
        type: str
        required: true
      namespace:
        description: The namespace of the release.
        type: str
        required: true
      component:
        description: What the release belongs to. Without it the release is a component of its own.
        type: str
      chart:
        description:
          - The name of the chart in O(releases[].repository), or its whole C(oci://) address.
          - With a slash it is the path of a folder or of a C(.tgz) on the controller. A chart in the directory in which
            Ansible was started is V(./name).
          - Required with O(state=present).
        type: str
      repository:
        description:
          - The URL of the repository, or C(oci://) and the path in a registry that the name of the chart is added to.
          - One with a password in it is refused. See O(registry_config) and O(chart_source).
        type: str
      version:
        description:
          - The version of the chart, in quotes. Required, except for a chart that is named by its path, whose own
            version must be this one if there is one.
        type: str
      values:
        description:
          - Paths of files with values, on the controller. A later one is laid over the earlier ones, as C(helm) does.
            A null deletes the default of the chart.
          - They are read by YAML 1.2, where V(yes) and V(on) are text.
        type: list
        elements: path
      set_values:
        description:
          - Values laid over those of the files.
          - They are never shown, neither in results nor in differences nor in what is said of a failure of C(helm).
        type: dict
      create_namespace:
        description:
          - Make the namespace if it is absent, with the label C(app.kubernetes.io/managed-by=aicr.runtime). One that is
            there is left alone.
        type: bool
        default: true
      take_ownership:
        description:
          - Let the release take over objects that are there already and belong to no release, or to another one.
            It takes helm 3.17 or newer.
        type: bool
        default: false
  recover:
    description:
      - Whether to go on with a release that Helm was ended in the middle of (V(pending-install) or V(pending-upgrade)),
        where a run began it that held the Lease. As O(run) holds the Lease now, that run is over, and its Helm with it.
      - The revision is marked as failed, as its Helm would have done, and the next one goes on from there. No object is
        removed. With O(state=absent) the release is removed as any other is.
      - A release that anybody else's Helm has begun is refused in any case, and so is one whose Lease was another one.
      - Takes O(run).
    type: bool
    default: false
  state:
    description:
      - Whether the releases shall be there.
      - With V(absent) they are removed one after the other in the order given, whatever their components. Helm waits
        until all of one is gone, dependents first, before the next one is begun. The first failure leaves the rest.
      - A chart that holds CRDs takes every object of their kinds with it.
    type: str
    choices: [present, absent]
    default: present
  chart_source:
    description:
      - The place that charts come from in place of every O(releases[].repository), for a site without a way out.
      - A folder on the controller with files C(<chart>-<version>.tgz), as C(helm pull) writes them, or folders
        C(<chart>). A chart of another version than the one that is asked for is refused.
      - C(oci://) and the path in a registry that the name of each chart is added to.
      - A chart that is named by its path is taken from there all the same.
    type: str
  helm:
    description: The path of C(helm), version 3.13 or newer, or 4. Without it the one on C(PATH) is taken.
    type: path
  cache:
    description:
      - A folder on the controller to keep downloaded charts and indices in. Without it they are kept for this task
        alone.
    type: path
  registry_config:
    description:
      - The path of the file with the credentials of registries, as C(helm registry login) and C(docker login) write it.
      - Without it no credentials are sent.
    type: path
  timeout:
    description:
      - How many seconds one release may take. A C(helm) that takes longer is told to end, and the error says in which
        state it left the release.
    type: float
    default: 600
extends_documentation_fragment:
  - aicr.runtime._attributes.cluster
  - aicr.runtime._attributes
  - aicr.runtime._options.cluster
  - aicr.runtime._options.run
attributes:
  check_mode:
    description: Can run in C(check_mode) and return changed status prediction without modifying the target.
    support: full
    details:
      - Releases that would change are rendered by C(helm upgrade --dry-run=server) on the cluster as it is.
      - What cannot be judged since its namespace or its kinds are not there yet is predicted from what is installed,
        and RV(releases[].predicted) says so.
  diff_mode:
    description:
      - Will return details on what has changed (or possibly needs changing in C(check_mode)), when in diff mode.
    support: full
    details:
      - The objects that differ, as they were rendered and as they are rendered now. What a Secret holds is replaced by
        V(***), and so is every text of O(releases[].set_values). An object of more than 32 KiB is told by its hash.
  async:
    description: Supports being used with the C(async) keyword.
    support: none
    details:
      - Components are worked on side by side. For many clusters raise C(forks).
notes:
  - Relative paths start in the directory in which Ansible was started.
  - The caller needs the rights of the charts, C(list) on C(secrets) in the namespaces of the releases, and C(get) and
    C(patch) on C(namespaces).
seealso:
  - module: aicr.runtime.lease
"""

EXAMPLES = r"""
- name: Install MariaDB's operator, its definitions first
  aicr.runtime.release:
    kubeconfig: /srv/kube/eks-slurm.yaml
    releases:
      - name: mariadb-operator-crds
        namespace: mariadb-operator
        component: mariadb
        chart: mariadb-operator-crds
        repository: oci://ghcr.io/mariadb-operator/charts
        version: "26.6.0"
      - name: mariadb-operator
        namespace: mariadb-operator
        component: mariadb
        chart: mariadb-operator
        repository: oci://ghcr.io/mariadb-operator/charts
        version: "26.6.0"
        values:
          - bundles/eks-slurm/004-mariadb-operator/values.yaml
          - bundles/eks-slurm/004-mariadb-operator/cluster-values.yaml

- name: Install from charts that were carried in
  aicr.runtime.release:
    kubeconfig: /srv/kube/eks-slurm.yaml
    chart_source: /srv/charts
    releases:
      - name: slinky-slurm
        namespace: slurm
        chart: slurm
        version: "1.2.0"
        values: [bundles/eks-slurm/009-slinky-slurm/values.yaml]
"""

RETURN = r"""
releases:
  description: What became of each release, in the order of O(releases).
  returned: always, of a failing task in RV(error.details), too
  type: list
  elements: dict
  contains:
    name:
      description: The name of the release.
      type: str
      returned: always
      sample: mariadb-operator
    namespace:
      description: Its namespace.
      type: str
      returned: always
      sample: mariadb-operator
    component:
      description: What it belongs to.
      type: str
      returned: always
      sample: mariadb
    chart:
      description: The chart that it shall be of.
      type: str
      returned: always
      sample: mariadb-operator 26.6.0
    changed:
      description: Whether it was installed or upgraded, or would be.
      type: bool
      returned: always
      sample: true
    revision:
      description: Its newest revision. Null if there is none, as in check mode before it is installed.
      type: int
      returned: always
      sample: 2
    status:
      description: What Helm calls the state of that revision, or V(absent).
      type: str
      returned: always
      sample: deployed
    why:
      description: Why it was not as it shall be. Values are named, never shown.
      type: str
      returned: always
      sample: "its chart is mariadb-operator 26.3.0, not mariadb-operator 26.6.0; its values differ: ha.enabled"
    predicted:
      description: Whether the cluster could not judge what would be installed.
      type: bool
      returned: in check mode
      sample: false
    unjudged:
      description: Why it could not.
      type: str
      returned: in check mode, if RV(releases[].predicted) is true
      sample: namespace mariadb-operator is not there yet
error:
  description: What went wrong, in a form for programs.
  returned: failure
  type: dict
  contains:
    code:
      description:
        - The class of the failure, such as V(CONFLICT) for a release in the middle of an operation or an object that
          belongs to somebody else, V(INVALID_REQUEST) for values that a chart refuses, V(TIMEOUT),
          V(SERVICE_UNAVAILABLE) for a webhook that does not answer or a C(helm) that is not there.
      type: str
      returned: failure
      sample: CONFLICT
    message:
      description: What is wrong, naming the offender.
      type: str
      returned: failure
      sample: >-
        release slurm/slinky-slurm: its revision 3 is pending-upgrade since 2026-11-30T14:56:38Z: another helm works on
        it, or one was ended in the middle; nothing was changed
    hint:
      description: The way out.
      type: str
      returned: failure
      sample: >-
        once it is sure that no helm works on it: `helm rollback slinky-slurm 2 --namespace slurm`, then run again
    details:
      description:
        - Small facts. C(releases) are those that are as they shall be, C(not_begun) those that were left undone,
          C(reason) tells failures of C(helm) apart, C(revision) and C(status) say in which state a release is.
      type: dict
      returned: failure
      sample: {release: slinky-slurm, namespace: slurm, revision: 3, status: pending-upgrade}
"""
