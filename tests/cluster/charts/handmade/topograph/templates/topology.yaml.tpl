# SPDX-FileCopyrightText: 2026 AICR Runtime contributors
# SPDX-License-Identifier: GPL-3.0-or-later
# What Topograph does once its broker has told the nodes: a tree in the ConfigMap that the slurm chart owns.
---
apiVersion: v1
kind: ServiceAccount
metadata:
  name: slinky-topograph
  namespace: {{ .Release.Namespace }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: slinky-topograph
  namespace: slurm
rules:
  - apiGroups: [""]
    resources: [configmaps]
    resourceNames: [slinky-slurm-config-extra]
    verbs: [get, patch]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: slinky-topograph
  namespace: slurm
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: Role
  name: slinky-topograph
subjects:
  - kind: ServiceAccount
    name: slinky-topograph
    namespace: {{ .Release.Namespace }}
---
apiVersion: batch/v1
kind: Job
metadata:
  name: slinky-topograph-topology
  namespace: {{ .Release.Namespace }}
spec:
  backoffLimit: 10
  template:
    spec:
      serviceAccountName: slinky-topograph
      restartPolicy: Never
      containers:
        - name: topology
          image: stand-in.invalid/topograph:{{ .Chart.AppVersion }}
          command:
            - sh
            - -ec
            - |
              place=/var/run/secrets/kubernetes.io/serviceaccount
              curl -sSf --cacert $place/ca.crt -H "Authorization: Bearer $(cat $place/token)" -X PATCH \
                -H "Content-Type: application/merge-patch+json" \
                -d '{"data": {"topology.conf": "SwitchName=leaf Nodes=slinky-[0-7]\n"}}' \
                https://kubernetes.default.svc/api/v1/namespaces/slurm/configmaps/slinky-slurm-config-extra
