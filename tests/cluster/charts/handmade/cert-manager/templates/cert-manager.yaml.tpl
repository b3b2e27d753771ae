# SPDX-FileCopyrightText: 2026 AICR Runtime contributors
# SPDX-License-Identifier: GPL-3.0-or-later
{{- range $kind, $plural := dict "Certificate" "certificates" "Issuer" "issuers" "ClusterIssuer" "clusterissuers" }}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: {{ $plural }}.cert-manager.io
spec:
  group: cert-manager.io
  names:
    kind: {{ $kind }}
    plural: {{ $plural }}
  scope: {{ hasPrefix "Cluster" $kind | ternary "Cluster" "Namespaced" }}
  versions:
    - name: v1
      served: true
      storage: true
      subresources:
        status: {}
      schema:
        openAPIV3Schema:
          type: object
          x-kubernetes-preserve-unknown-fields: true
{{- end }}
---
apiVersion: v1
kind: ServiceAccount
metadata:
  name: cert-manager
  namespace: {{ .Release.Namespace }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: cert-manager
rules:
  - apiGroups: [cert-manager.io]
    resources: [certificates, issuers, clusterissuers]
    verbs: [get, list, watch]
  - apiGroups: [cert-manager.io]
    resources: [certificates/status, issuers/status, clusterissuers/status]
    verbs: [patch, update]
  - apiGroups: [""]
    resources: [secrets]
    verbs: [create, get, list, patch, watch]
  - apiGroups: [admissionregistration.k8s.io]
    resources: [mutatingwebhookconfigurations, validatingwebhookconfigurations]
    verbs: [get, list, patch, watch]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: cert-manager
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: cert-manager
subjects:
  - kind: ServiceAccount
    name: cert-manager
    namespace: {{ .Release.Namespace }}
{{- range list "controller" "cainjector" "webhook" }}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: cert-manager{{ eq . "controller" | ternary "" (printf "-%s" .) }}
  namespace: {{ $.Release.Namespace }}
  labels: &labels
    app.kubernetes.io/name: {{ eq . "controller" | ternary "cert-manager" . }}
    app.kubernetes.io/instance: {{ $.Release.Name }}
    app.kubernetes.io/component: {{ . }}
spec:
  replicas: 1
  selector:
    matchLabels: *labels
  template:
    metadata:
      labels: *labels
    spec:
      serviceAccountName: cert-manager
      containers:
        - name: cert-manager-{{ . }}
          image: quay.io/jetstack/cert-manager-{{ . }}:{{ $.Chart.AppVersion }}
          args:
            - --v=2
      {{- with (eq . "controller" | ternary $.Values (index $.Values .)).tolerations }}
      tolerations: {{- toYaml . | nindent 8 }}
      {{- end }}
{{- end }}
