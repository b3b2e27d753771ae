{{- if .Values.webhook.enabled }}
{{- /* Up to 1.2.1 a fresh authority at every upgrade (slurm-accounting.md 2.8). */}}
{{- $ca := "" }}
{{- $cert := "" }}
{{- if not .Values.certManager.enabled }}
{{- $ca = genCA "slurm-operator-webhook-ca" 3650 }}
{{- $host := printf "slurm-operator-webhook.%s.svc" .Release.Namespace }}
{{- $cert = genSignedCert $host nil (list "slurm-operator-webhook" $host) 3650 $ca }}
apiVersion: v1
kind: Secret
metadata:
  name: slurm-operator-webhook-ca
  namespace: {{ .Release.Namespace }}
  labels:
    helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
    app.kubernetes.io/part-of: slurm-operator
    app.kubernetes.io/name: slurm-operator-webhook
    app.kubernetes.io/instance: {{ .Release.Name }}
    app.kubernetes.io/version: {{ .Chart.AppVersion }}
    app.kubernetes.io/managed-by: {{ .Release.Service }}
type: kubernetes.io/tls
data:
  tls.crt: {{ $cert.Cert | b64enc }}
  tls.key: {{ $cert.Key | b64enc }}
  ca.crt: {{ $ca.Cert | b64enc }}
---
{{- end }}
apiVersion: v1
kind: ServiceAccount
metadata:
  name: slurm-operator-webhook
  namespace: {{ .Release.Namespace }}
  labels:
    helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
    app.kubernetes.io/part-of: slurm-operator
    app.kubernetes.io/name: slurm-operator-webhook
    app.kubernetes.io/instance: {{ .Release.Name }}
    app.kubernetes.io/version: {{ .Chart.AppVersion }}
    app.kubernetes.io/managed-by: {{ .Release.Service }}
automountServiceAccountToken: true
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: slurm-operator-webhook
  namespace: {{ .Release.Namespace }}
  labels:
    helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
    app.kubernetes.io/part-of: slurm-operator
    app.kubernetes.io/name: slurm-operator-webhook
    app.kubernetes.io/instance: {{ .Release.Name }}
    app.kubernetes.io/version: {{ .Chart.AppVersion }}
    app.kubernetes.io/managed-by: {{ .Release.Service }}
rules:
- apiGroups:
  - ''
  resources:
  - configmaps
  - nodes
  - pods/binding
  verbs:
  - get
  - list
  - watch
- apiGroups:
  - ''
  resources:
  - events
  verbs:
  - create
  - get
  - list
  - patch
  - update
  - watch
- apiGroups:
  - ''
  resources:
  - pods
  verbs:
  - get
  - list
  - patch
  - update
  - watch
- apiGroups:
  - authentication.k8s.io
  resources:
  - tokenreviews
  verbs:
  - create
- apiGroups:
  - authorization.k8s.io
  resources:
  - subjectaccessreviews
  verbs:
  - create
- apiGroups:
  - coordination.k8s.io
  resources:
  - leases
  verbs:
  - create
  - get
  - patch
  - update
- apiGroups:
  - slinky.slurm.net
  resources:
  - accountings
  - controllers
  - loginsets
  - nodesets
  - restapis
  - tokens
  verbs:
  - create
  - delete
  - update
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: slurm-operator-webhook
  namespace: {{ .Release.Namespace }}
  labels:
    helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
    app.kubernetes.io/part-of: slurm-operator
    app.kubernetes.io/name: slurm-operator-webhook
    app.kubernetes.io/instance: {{ .Release.Name }}
    app.kubernetes.io/version: {{ .Chart.AppVersion }}
    app.kubernetes.io/managed-by: {{ .Release.Service }}
subjects:
- kind: ServiceAccount
  name: slurm-operator-webhook
  namespace: {{ .Release.Namespace }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: slurm-operator-webhook
---
apiVersion: v1
kind: Service
metadata:
  name: slurm-operator-webhook
  namespace: {{ .Release.Namespace }}
  labels:
    helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
    app.kubernetes.io/part-of: slurm-operator
    app.kubernetes.io/name: slurm-operator-webhook
    app.kubernetes.io/instance: {{ .Release.Name }}
    app.kubernetes.io/version: {{ .Chart.AppVersion }}
    app.kubernetes.io/managed-by: {{ .Release.Service }}
spec:
  type: ClusterIP
  selector:
    app.kubernetes.io/name: slurm-operator-webhook
    app.kubernetes.io/instance: {{ .Release.Name }}
  ports:
  - name: https
    protocol: TCP
    port: 443
    targetPort: 9443
  - name: health
    protocol: TCP
    port: 8081
    targetPort: 8081
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: slurm-operator-webhook
  namespace: {{ .Release.Namespace }}
  labels:
    helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
    app.kubernetes.io/part-of: slurm-operator
    app.kubernetes.io/name: slurm-operator-webhook
    app.kubernetes.io/instance: {{ .Release.Name }}
    app.kubernetes.io/version: {{ .Chart.AppVersion }}
    app.kubernetes.io/managed-by: {{ .Release.Service }}
spec:
  replicas: 1
  selector:
    matchLabels:
      app.kubernetes.io/name: slurm-operator-webhook
      app.kubernetes.io/instance: {{ .Release.Name }}
  strategy:
    type: RollingUpdate
    rollingUpdate:
      maxSurge: 1
      maxUnavailable: 0
  template:
    metadata:
      labels:
        helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
        app.kubernetes.io/part-of: slurm-operator
        app.kubernetes.io/name: slurm-operator-webhook
        app.kubernetes.io/instance: {{ .Release.Name }}
        app.kubernetes.io/version: {{ .Chart.AppVersion }}
        app.kubernetes.io/managed-by: {{ .Release.Service }}
    spec:
      hostname: slurm-operator-webhook
      priorityClassName: null
      serviceAccountName: slurm-operator-webhook
      {{- with .Values.webhook.nodeSelector }}
      nodeSelector: {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with .Values.webhook.tolerations }}
      tolerations: {{- toYaml . | nindent 8 }}
      {{- end }}
      containers:
      - name: webhook
        image: ghcr.io/slinkyproject/slurm-operator-webhook:{{ .Chart.AppVersion }}
        imagePullPolicy: IfNotPresent
        {{- with .Values.webhook.resources }}
        resources: {{- toYaml . | nindent 10 }}
        {{- end }}
        args:
        - --zap-log-level
        - info
        - --server-addr
        - :9443
        - --health-addr
        - :8081
        - --metrics-addr
        - '0'
        - --leader-elect
        - --leader-elect-namespace
        - {{ .Release.Namespace }}
        livenessProbe:
          httpGet:
            path: /healthz
            port: 8081
        readinessProbe:
          httpGet:
            path: /readyz
            port: 8081
        volumeMounts:
        - name: certificates
          mountPath: /tmp/k8s-webhook-server/serving-certs/
          readOnly: true
      volumes:
      - name: certificates
        secret:
          defaultMode: 420
          secretName: slurm-operator-webhook-ca
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata:
  name: slurm-operator-webhook
  {{- if .Values.certManager.enabled }}
  annotations:
    certmanager.k8s.io/inject-ca-from: {{ .Release.Namespace }}/slurm-operator-webhook-ca
    cert-manager.io/inject-ca-from: {{ .Release.Namespace }}/slurm-operator-webhook-ca
  {{- end }}
  labels:
    helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
    app.kubernetes.io/part-of: slurm-operator
    app.kubernetes.io/name: slurm-operator-webhook
    app.kubernetes.io/instance: {{ .Release.Name }}
    app.kubernetes.io/version: {{ .Chart.AppVersion }}
    app.kubernetes.io/managed-by: {{ .Release.Service }}
webhooks:
- name: podsbinding-v1.kb.io
  namespaceSelector:
    matchExpressions:
    - key: kubernetes.io/metadata.name
      operator: NotIn
      values:
      - kube-system
      - {{ .Release.Namespace }}
  admissionReviewVersions:
  - v1
  clientConfig:
    {{- if $ca }}
    caBundle: {{ $ca.Cert | b64enc }}
    {{- end }}
    service:
      namespace: {{ .Release.Namespace }}
      name: slurm-operator-webhook
      path: /mutate--v1-binding
  failurePolicy: Ignore
  matchPolicy: Equivalent
  rules:
  - apiGroups:
    - ''
    apiVersions:
    - v1
    operations:
    - CREATE
    resources:
    - pods/binding
  timeoutSeconds: 10
  sideEffects: None
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata:
  name: slurm-operator-webhook
  {{- if .Values.certManager.enabled }}
  annotations:
    certmanager.k8s.io/inject-ca-from: {{ .Release.Namespace }}/slurm-operator-webhook-ca
    cert-manager.io/inject-ca-from: {{ .Release.Namespace }}/slurm-operator-webhook-ca
  {{- end }}
  labels:
    helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
    app.kubernetes.io/part-of: slurm-operator
    app.kubernetes.io/name: slurm-operator-webhook
    app.kubernetes.io/instance: {{ .Release.Name }}
    app.kubernetes.io/version: {{ .Chart.AppVersion }}
    app.kubernetes.io/managed-by: {{ .Release.Service }}
webhooks:
- name: accounting-v1beta1.kb.io
  namespaceSelector:
    matchExpressions:
    - key: kubernetes.io/metadata.name
      operator: NotIn
      values:
      - kube-system
  rules:
  - apiGroups:
    - slinky.slurm.net
    apiVersions:
    - v1beta1
    resources:
    - accountings
    operations:
    - CREATE
    - UPDATE
    scope: Namespaced
  clientConfig:
    {{- if $ca }}
    caBundle: {{ $ca.Cert | b64enc }}
    {{- end }}
    service:
      namespace: {{ .Release.Namespace }}
      name: slurm-operator-webhook
      path: /validate-slinky-slurm-net-v1beta1-accounting
  failurePolicy: Fail
  matchPolicy: Equivalent
  timeoutSeconds: 10
  admissionReviewVersions:
  - v1beta1
  sideEffects: None
- name: controller-v1beta1.kb.io
  namespaceSelector:
    matchExpressions:
    - key: kubernetes.io/metadata.name
      operator: NotIn
      values:
      - kube-system
  rules:
  - apiGroups:
    - slinky.slurm.net
    apiVersions:
    - v1beta1
    resources:
    - controllers
    operations:
    - CREATE
    - UPDATE
    scope: Namespaced
  clientConfig:
    {{- if $ca }}
    caBundle: {{ $ca.Cert | b64enc }}
    {{- end }}
    service:
      namespace: {{ .Release.Namespace }}
      name: slurm-operator-webhook
      path: /validate-slinky-slurm-net-v1beta1-controller
  failurePolicy: Fail
  matchPolicy: Equivalent
  timeoutSeconds: 10
  admissionReviewVersions:
  - v1beta1
  sideEffects: None
- name: loginset-v1beta1.kb.io
  namespaceSelector:
    matchExpressions:
    - key: kubernetes.io/metadata.name
      operator: NotIn
      values:
      - kube-system
  rules:
  - apiGroups:
    - slinky.slurm.net
    apiVersions:
    - v1beta1
    resources:
    - loginsets
    operations:
    - CREATE
    - UPDATE
    scope: Namespaced
  clientConfig:
    {{- if $ca }}
    caBundle: {{ $ca.Cert | b64enc }}
    {{- end }}
    service:
      namespace: {{ .Release.Namespace }}
      name: slurm-operator-webhook
      path: /validate-slinky-slurm-net-v1beta1-loginset
  failurePolicy: Fail
  matchPolicy: Equivalent
  timeoutSeconds: 10
  admissionReviewVersions:
  - v1beta1
  sideEffects: None
- name: nodeset-v1beta1.kb.io
  namespaceSelector:
    matchExpressions:
    - key: kubernetes.io/metadata.name
      operator: NotIn
      values:
      - kube-system
  rules:
  - apiGroups:
    - slinky.slurm.net
    apiVersions:
    - v1beta1
    resources:
    - nodesets
    operations:
    - CREATE
    - UPDATE
    scope: Namespaced
  clientConfig:
    {{- if $ca }}
    caBundle: {{ $ca.Cert | b64enc }}
    {{- end }}
    service:
      namespace: {{ .Release.Namespace }}
      name: slurm-operator-webhook
      path: /validate-slinky-slurm-net-v1beta1-nodeset
  failurePolicy: Fail
  matchPolicy: Equivalent
  timeoutSeconds: 10
  admissionReviewVersions:
  - v1beta1
  sideEffects: None
- name: restapi-v1beta1.kb.io
  namespaceSelector:
    matchExpressions:
    - key: kubernetes.io/metadata.name
      operator: NotIn
      values:
      - kube-system
  rules:
  - apiGroups:
    - slinky.slurm.net
    apiVersions:
    - v1beta1
    resources:
    - restapis
    operations:
    - CREATE
    - UPDATE
    scope: Namespaced
  clientConfig:
    {{- if $ca }}
    caBundle: {{ $ca.Cert | b64enc }}
    {{- end }}
    service:
      namespace: {{ .Release.Namespace }}
      name: slurm-operator-webhook
      path: /validate-slinky-slurm-net-v1beta1-restapi
  failurePolicy: Fail
  matchPolicy: Equivalent
  timeoutSeconds: 10
  admissionReviewVersions:
  - v1beta1
  sideEffects: None
- name: token-v1beta1.kb.io
  namespaceSelector:
    matchExpressions:
    - key: kubernetes.io/metadata.name
      operator: NotIn
      values:
      - kube-system
  rules:
  - apiGroups:
    - slinky.slurm.net
    apiVersions:
    - v1beta1
    resources:
    - tokens
    operations:
    - CREATE
    - UPDATE
    scope: Namespaced
  clientConfig:
    {{- if $ca }}
    caBundle: {{ $ca.Cert | b64enc }}
    {{- end }}
    service:
      namespace: {{ .Release.Namespace }}
      name: slurm-operator-webhook
      path: /validate-slinky-slurm-net-v1beta1-token
  failurePolicy: Fail
  matchPolicy: Equivalent
  timeoutSeconds: 10
  admissionReviewVersions:
  - v1beta1
  sideEffects: None
{{- if .Values.certManager.enabled }}
---
apiVersion: cert-manager.io/v1
kind: Certificate
metadata:
  name: slurm-operator-webhook-root-ca
  namespace: {{ .Release.Namespace }}
  labels:
    helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
    app.kubernetes.io/part-of: slurm-operator
    app.kubernetes.io/name: slurm-operator-webhook
    app.kubernetes.io/instance: {{ .Release.Name }}
    app.kubernetes.io/version: {{ .Chart.AppVersion }}
    app.kubernetes.io/managed-by: {{ .Release.Service }}
spec:
  commonName: slurm-operator-webhook-root-ca
  secretName: slurm-operator-webhook-root-ca
  isCA: true
  duration: 43800h0m0s
  renewBefore: 8760h0m0s
  issuerRef:
    name: slurm-operator-webhook-self-issuer
---
apiVersion: cert-manager.io/v1
kind: Certificate
metadata:
  name: slurm-operator-webhook-ca
  namespace: {{ .Release.Namespace }}
  labels:
    helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
    app.kubernetes.io/part-of: slurm-operator
    app.kubernetes.io/name: slurm-operator-webhook
    app.kubernetes.io/instance: {{ .Release.Name }}
    app.kubernetes.io/version: {{ .Chart.AppVersion }}
    app.kubernetes.io/managed-by: {{ .Release.Service }}
spec:
  commonName: slurm-operator-webhook-self-ca
  secretName: slurm-operator-webhook-ca
  duration: 43800h0m0s
  renewBefore: 8760h0m0s
  issuerRef:
    name: slurm-operator-webhook-root-issuer
  dnsNames:
  - slurm-operator-webhook
  - slurm-operator-webhook.{{ .Release.Namespace }}.svc
---
apiVersion: cert-manager.io/v1
kind: Issuer
metadata:
  name: slurm-operator-webhook-self-issuer
  namespace: {{ .Release.Namespace }}
  labels:
    helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
    app.kubernetes.io/part-of: slurm-operator
    app.kubernetes.io/name: slurm-operator-webhook
    app.kubernetes.io/instance: {{ .Release.Name }}
    app.kubernetes.io/version: {{ .Chart.AppVersion }}
    app.kubernetes.io/managed-by: {{ .Release.Service }}
spec:
  selfSigned: {}
---
apiVersion: cert-manager.io/v1
kind: Issuer
metadata:
  name: slurm-operator-webhook-root-issuer
  namespace: {{ .Release.Namespace }}
  labels:
    helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
    app.kubernetes.io/part-of: slurm-operator
    app.kubernetes.io/name: slurm-operator-webhook
    app.kubernetes.io/instance: {{ .Release.Name }}
    app.kubernetes.io/version: {{ .Chart.AppVersion }}
    app.kubernetes.io/managed-by: {{ .Release.Service }}
spec:
  ca:
    secretName: slurm-operator-webhook-root-ca
{{- end }}
{{- end }}
