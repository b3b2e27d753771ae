{{- range $key, $given := .Values.nodesets }}
{{- $set := mergeOverwrite (deepCopy $.Values.nodeDefaults) $given }}
{{- if $set.enabled }}
---
apiVersion: slinky.slurm.net/v1beta1
kind: NodeSet
metadata:
  name: {{ include "fullname" $ }}-worker-{{ $key }}
  namespace: {{ include "namespace" $ }}
  labels: {{- include "labels" $ | nindent 4 }}
  {{- with $set.metadata.annotations }}
  annotations: {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  controllerRef:
    name: {{ include "fullname" $ }}
  {{- with $set.extraConfMap }}
  extraConf: {{ include "conf" (dict "map" . "by" " ") | quote }}
  {{- end }}
  partition:
    enabled: {{ $set.partition.enabled }}
    {{- with $set.partition.configMap }}
    config: {{ include "conf" (dict "map" . "by" " ") | quote }}
    {{- end }}
  scalingMode: {{ $set.scalingMode }}
  replicas: {{ $set.replicas }}
  slurmd: {{- include "container" $set.slurmd | nindent 4 }}
  logfile: {{- include "container" $set.logfile | nindent 4 }}
  template: {{- include "template" (dict "root" $ "spec" (merge (dict "hostname" (printf "%s-" $key)) $set.podSpec)) | nindent 4 }}
  updateStrategy: {{- toYaml $set.updateStrategy | nindent 4 }}
  ordinalPadding: {{ $set.ordinalPadding }}
  pinToNode: {{ $set.pinToNode }}
  workloadDisruptionProtection: {{ $set.workloadDisruptionProtection }}
  pruneSlurmNodeRecords: {{ $set.pruneSlurmNodeRecords }}
  oversubscribeNode: {{ $set.oversubscribeNode }}
{{- end }}
{{- end }}
