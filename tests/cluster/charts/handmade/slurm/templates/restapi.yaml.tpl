{{- with .Values.restapi }}
apiVersion: slinky.slurm.net/v1beta1
kind: RestApi
metadata:
  name: {{ include "fullname" $ }}
  namespace: {{ include "namespace" $ }}
  labels: {{- include "labels" $ | nindent 4 }}
  {{- with .metadata.annotations }}
  annotations: {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  controllerRef:
    name: {{ include "fullname" $ }}
  replicas: {{ .replicas }}
  slurmrestd: {{- include "container" .slurmrestd | nindent 4 }}
  template: {{- include "template" (dict "root" $ "spec" .podSpec) | nindent 4 }}
  service: {{- toYaml .service | nindent 4 }}
{{- end }}
