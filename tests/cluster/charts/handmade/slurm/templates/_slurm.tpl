{{- define "fullname" }}
{{- if .Values.fullnameOverride }}{{ .Values.fullnameOverride }}
{{- else if contains .Chart.Name .Release.Name }}{{ .Release.Name }}
{{- else }}{{ .Release.Name }}-{{ .Chart.Name }}
{{- end }}
{{- end }}

{{- define "namespace" }}{{ .Values.namespaceOverride | default .Release.Namespace }}{{ end }}

{{- define "labels" -}}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/part-of: slurm
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "image" }}
{{- .repository }}:{{ .tag }}{{ with .digest }}@{{ . }}{{ end }}
{{- end }}

{{- /* A container of the values, with the image as one string. */}}
{{- define "container" -}}
{{- toYaml (merge (dict "image" (include "image" .image) "imagePullPolicy" "IfNotPresent") (omit . "image")) }}
{{- end }}

{{- define "template" -}}
metadata:
  labels: {{- include "labels" .root | nindent 4 }}
spec:
  {{- with .root.Values.imagePullSecrets }}
  imagePullSecrets: {{- toYaml . | nindent 4 }}
  {{- else }}
  imagePullSecrets: null
  {{- end }}
  priorityClassName: {{ .root.Values.priorityClassName | quote }}
  {{- toYaml (omit .spec "imagePullSecrets" "priorityClassName") | nindent 2 }}
{{- end }}

{{- /* Lines KEY=VALUE, or one line; a list is joined by commas. */}}
{{- define "conf" }}
{{- $lines := list }}
{{- range $key, $value := .map }}
{{- $lines = append $lines (printf "%s=%s" $key (kindIs "slice" $value | ternary (join "," $value) (toString $value))) }}
{{- end }}
{{- join .by $lines }}
{{- end }}

{{- define "keys" -}}
slurmKeyRef:
  {{- if .Values.slurmKey.create }}
  name: {{ include "fullname" . }}-auth-slurm
  key: slurm.key
  {{- else }}
  {{- toYaml .Values.slurmKey.secretRef | nindent 2 }}
  {{- end }}
jwtKeyRef:
  {{- if .Values.jwtKey.create }}
  name: {{ include "fullname" . }}-auth-jwt
  key: jwt.key
  {{- else }}
  {{- toYaml .Values.jwtKey.secretRef | nindent 2 }}
  {{- end }}
{{- end }}

{{- /* Made once, then what the cluster has (slurm-accounting.md 2.7). */}}
{{- define "key" }}
{{- $name := printf "%s-auth-%s" (include "fullname" .root) .kind }}
{{- $there := lookup "v1" "Secret" (include "namespace" .root) $name }}
apiVersion: v1
kind: Secret
metadata:
  name: {{ $name }}
  namespace: {{ include "namespace" .root }}
  labels: {{- include "labels" .root | nindent 4 }}
type: Opaque
data:
  {{ .kind }}.key: {{ if $there }}{{ index $there.data (printf "%s.key" .kind) }}{{ else }}{{ randAscii 1024 | b64enc }}{{ end }}
immutable: true
{{- end }}
