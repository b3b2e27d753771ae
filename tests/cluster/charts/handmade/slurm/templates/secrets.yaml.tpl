{{- if .Values.jwtKey.create }}
{{- include "key" (dict "root" . "kind" "jwt") }}
---
{{- end }}
{{- if .Values.slurmKey.create }}
{{- include "key" (dict "root" . "kind" "slurm") }}
{{- end }}
{{- if .Values.loginsets }}
---
apiVersion: v1
kind: Secret
metadata:
  name: {{ include "fullname" . }}-sssd-conf
  namespace: {{ include "namespace" . }}
type: Opaque
stringData:
  sssd.conf: |
{{ .Values.sssd.conf | indent 4 }}
{{- end }}
{{- with .Values.configFiles }}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ include "fullname" $ }}-config-extra
  namespace: {{ include "namespace" $ }}
  labels: {{- include "labels" $ | nindent 4 }}
data: {{- toYaml . | nindent 2 }}
{{- end }}
