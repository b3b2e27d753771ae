# SPDX-FileCopyrightText: 2026 AICR Runtime contributors
# SPDX-License-Identifier: GPL-3.0-or-later
# What the operator's device plugin does: without it no node has a GPU that a pod could ask for.
---
apiVersion: v1
kind: ServiceAccount
metadata:
  name: nvidia-device-plugin
  namespace: {{ .Release.Namespace }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: nvidia-device-plugin
rules:
  - apiGroups: [""]
    resources: [nodes/status]
    verbs: [patch]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: nvidia-device-plugin
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: nvidia-device-plugin
subjects:
  - kind: ServiceAccount
    name: nvidia-device-plugin
    namespace: {{ .Release.Namespace }}
---
apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: nvidia-device-plugin-daemonset
  namespace: {{ .Release.Namespace }}
spec:
  selector:
    matchLabels: {app: nvidia-device-plugin-daemonset}
  template:
    metadata:
      labels: {app: nvidia-device-plugin-daemonset}
      annotations: {bed/execute: ""}
    spec:
      serviceAccountName: nvidia-device-plugin
      nodeSelector: {feature.node.kubernetes.io/pci-10de.present: "true"}
      tolerations: [{operator: Exists}]
      containers:
        - name: nvidia-device-plugin
          image: stand-in.invalid/k8s-device-plugin:{{ .Chart.AppVersion }}
          env:
            - name: NODE_NAME
              valueFrom: {fieldRef: {fieldPath: spec.nodeName}}
          command:
            - sh
            - -ec
            - |
              trap 'exit 0' TERM
              gpus=$(cd /devices && grep -l 0x10de */vendor | sed 's/vendor$/class/' | xargs grep -l 0x0302 | wc -l)
              place=/var/run/secrets/kubernetes.io/serviceaccount
              count="{\"nvidia.com/gpu\": \"$gpus\"}"
              curl -sSf -o /dev/null --cacert $place/ca.crt -H "Authorization: Bearer $(cat $place/token)" -X PATCH \
                -H "Content-Type: application/merge-patch+json" \
                -d "{\"status\": {\"capacity\": $count, \"allocatable\": $count}}" \
                "https://kubernetes.default.svc/api/v1/nodes/$NODE_NAME/status"
              sleep infinity & wait
          volumeMounts:
            - {name: devices, mountPath: /devices, readOnly: true}
      volumes:
        - name: devices
          hostPath: {path: /sys/bus/pci/devices}
