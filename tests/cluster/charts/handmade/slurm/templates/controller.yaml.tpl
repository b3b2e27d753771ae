{{- $extra := list }}
{{- with .Values.controller.extraConf }}{{ $extra = append $extra (trim .) }}{{ end }}
{{- with .Values.controller.extraConfMap }}{{ $extra = append $extra (include "conf" (dict "map" . "by" "\n")) }}{{ end }}
{{- range $name, $partition := .Values.partitions }}
{{- if $partition.enabled }}
{{- $nodes := $partition.nodesets | default (list "ALL") | join "," }}
{{- $conf := include "conf" (dict "map" ($partition.configMap | default (dict "Default" "YES" "MaxTime" "UNLIMITED")) "by" " ") }}
{{- $extra = append $extra (printf "PartitionName=%s Nodes=%s %s" $name $nodes $conf | trim) }}
{{- end }}
{{- end }}
{{- with .Values.controller }}
apiVersion: slinky.slurm.net/v1beta1
kind: Controller
metadata:
  name: {{ include "fullname" $ }}
  namespace: {{ include "namespace" $ }}
  labels: {{- include "labels" $ | nindent 4 }}
  {{- with .metadata.annotations }}
  annotations: {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  {{- if $.Values.accounting.enabled }}
  accountingRef:
    name: {{ include "fullname" $ }}
  {{- end }}
  {{- include "keys" $ | nindent 2 }}
  {{- with $.Values.clusterName }}
  clusterName: {{ . }}
  {{- end }}
  {{- with $extra }}
  extraConf: {{ join "\n" . | quote }}
  {{- end }}
  {{- if $.Values.configFiles }}
  configFileRefs:
    - name: {{ include "fullname" $ }}-config-extra
  {{- else }}
  configFileRefs: null
  {{- end }}
  prologScriptRefs: null
  epilogScriptRefs: null
  prologSlurmctldScriptRefs: null
  epilogSlurmctldScriptRefs: null
  slurmctld: {{- include "container" .slurmctld | nindent 4 }}
  inplaceReconfigure: {{ .inplaceReconfigure }}
  reconfigure: {{- include "container" .reconfigure | nindent 4 }}
  logfile: {{- include "container" .logfile | nindent 4 }}
  template: {{- include "template" (dict "root" $ "spec" .podSpec) | nindent 4 }}
  {{- $claim := .persistence }}
  {{- if not $claim.storageClassName }}{{ $claim = omit $claim "storageClassName" }}{{ end }}
  persistence: {{- toYaml $claim | nindent 4 }}
  service: {{- toYaml .service | nindent 4 }}
  metrics: {{- toYaml .metrics | nindent 4 }}
{{- end }}
