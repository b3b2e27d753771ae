{{- $name := .Values.fullnameOverride | default (printf "%s-%s" .Release.Name .Chart.Name) }}
{{- $namespace := .Values.namespaceOverride | default .Release.Namespace }}
{{- define "labels" }}
    helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
    app.kubernetes.io/name: {{ .Chart.Name }}
    app.kubernetes.io/instance: {{ .Release.Name }}
    app.kubernetes.io/version: {{ .Chart.AppVersion }}
    app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}
{{- $root := dict "rootPasswordSecretKeyRef" (dict "name" (printf "%s-root" $name) "key" "root" "generate" true) }}
apiVersion: k8s.mariadb.com/v1alpha1
kind: MariaDB
metadata:
  name: {{ $name }}
  namespace: {{ $namespace }}
  labels: {{- include "labels" . }}
spec: {{- merge (deepCopy .Values.mariadb) $root | toYaml | nindent 2 }}
{{- range $kind, $list := dict "Database" .Values.databases "User" .Values.users "Grant" .Values.grants }}
{{- range $list }}
---
apiVersion: k8s.mariadb.com/v1alpha1
kind: {{ $kind }}
metadata:
  name: {{ .name }}
  namespace: {{ .namespace | default $namespace }}
  labels: {{- include "labels" $ }}
spec:
  mariaDbRef:
    name: {{ $name }}
    namespace: {{ $namespace }}
  {{- omit . "name" "namespace" | toYaml | nindent 2 }}
{{- end }}
{{- end }}
