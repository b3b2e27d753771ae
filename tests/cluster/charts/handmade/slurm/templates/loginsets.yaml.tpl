{{- range $key, $given := .Values.loginsets }}
{{- $set := mergeOverwrite (deepCopy $.Values.loginDefaults) $given }}
{{- if $set.enabled }}
---
apiVersion: slinky.slurm.net/v1beta1
kind: LoginSet
metadata:
  name: {{ include "fullname" $ }}-login-{{ $key }}
  namespace: {{ include "namespace" $ }}
  labels: {{- include "labels" $ | nindent 4 }}
  {{- with $set.metadata.annotations }}
  annotations: {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  controllerRef:
    name: {{ include "fullname" $ }}
  sssdConfRef:
    name: {{ include "fullname" $ }}-sssd-conf
    key: sssd.conf
  replicas: {{ $set.replicas }}
  login: {{- include "container" $set.login | nindent 4 }}
  template: {{- include "template" (dict "root" $ "spec" $set.podSpec) | nindent 4 }}
  initconf: {{- include "container" $set.initconf | nindent 4 }}
  {{- with $set.rootSshAuthorizedKeys }}
  rootSshAuthorizedKeys: {{ quote . }}
  {{- end }}
  {{- with $set.extraSshdConfig }}
  extraSshdConfig: {{ quote . }}
  {{- end }}
  service: {{- toYaml $set.service | nindent 4 }}
{{- end }}
{{- end }}
