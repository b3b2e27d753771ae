{{- if .Values.accounting.enabled }}
{{- with .Values.accounting }}
{{- $extra := list }}
{{- with .extraConf }}{{ $extra = append $extra (trim .) }}{{ end }}
{{- with .extraConfMap }}{{ $extra = append $extra (include "conf" (dict "map" . "by" "\n")) }}{{ end }}
apiVersion: slinky.slurm.net/v1beta1
kind: Accounting
metadata:
  name: {{ include "fullname" $ }}
  namespace: {{ include "namespace" $ }}
  labels: {{- include "labels" $ | nindent 4 }}
  {{- with .metadata.annotations }}
  annotations: {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  {{- include "keys" $ | nindent 2 }}
  {{- if .external }}
  external: true
  externalConfig: {{- toYaml .externalConfig | nindent 4 }}
  {{- end }}
  slurmdbd: {{- include "container" .slurmdbd | nindent 4 }}
  template: {{- include "template" (dict "root" $ "spec" .podSpec) | nindent 4 }}
  storageConfig: {{- toYaml .storageConfig | nindent 4 }}
  {{- with $extra }}
  extraConf: {{ join "\n" . | quote }}
  {{- end }}
  service: {{- toYaml .service | nindent 4 }}
{{- end }}
{{- end }}
