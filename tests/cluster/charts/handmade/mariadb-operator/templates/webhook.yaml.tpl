{{- if .Values.webhook.enabled }}
apiVersion: v1
kind: ServiceAccount
metadata:
  name: mariadb-operator-webhook
  labels:
    helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
    app.kubernetes.io/name: mariadb-operator-webhook
    app.kubernetes.io/instance: {{ .Release.Name }}
    app.kubernetes.io/version: {{ .Chart.AppVersion }}
    app.kubernetes.io/managed-by: {{ .Release.Service }}
---
apiVersion: v1
kind: Service
metadata:
  name: mariadb-operator-webhook
  labels:
    helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
    app.kubernetes.io/name: mariadb-operator-webhook
    app.kubernetes.io/instance: {{ .Release.Name }}
    app.kubernetes.io/version: {{ .Chart.AppVersion }}
    app.kubernetes.io/managed-by: {{ .Release.Service }}
spec:
  ports:
  - port: 443
    protocol: TCP
    targetPort: 9443
  selector:
    app.kubernetes.io/name: mariadb-operator-webhook
    app.kubernetes.io/instance: {{ .Release.Name }}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: mariadb-operator-webhook
  labels:
    helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
    app.kubernetes.io/name: mariadb-operator-webhook
    app.kubernetes.io/instance: {{ .Release.Name }}
    app.kubernetes.io/version: {{ .Chart.AppVersion }}
    app.kubernetes.io/managed-by: {{ .Release.Service }}
spec:
  revisionHistoryLimit: 10
  selector:
    matchLabels:
      app.kubernetes.io/name: mariadb-operator-webhook
      app.kubernetes.io/instance: {{ .Release.Name }}
  template:
    metadata:
      labels:
        app.kubernetes.io/name: mariadb-operator-webhook
        app.kubernetes.io/instance: {{ .Release.Name }}
    spec:
      serviceAccountName: mariadb-operator-webhook
      automountServiceAccountToken: true
      hostNetwork: false
      {{- with .Values.webhook.nodeSelector }}
      nodeSelector: {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with .Values.webhook.tolerations }}
      tolerations: {{- toYaml . | nindent 8 }}
      {{- end }}
      containers:
      - image: ghcr.io/mariadb-operator/mariadb-operator:{{ .Chart.AppVersion }}
        imagePullPolicy: IfNotPresent
        {{- with .Values.webhook.resources }}
        resources: {{- toYaml . | nindent 10 }}
        {{- end }}
        name: webhook
        args:
        - webhook
        {{- if .Values.webhook.cert.certManager.enabled }}
        - --ca-cert-path=/tmp/k8s-webhook-server/serving-certs/ca.crt
        {{- else }}
        - --ca-cert-path=/tmp/k8s-webhook-server/certificate-authority/tls.crt
        {{- end }}
        - --cert-dir=/tmp/k8s-webhook-server/serving-certs
        - --dns-name=mariadb-operator-webhook.{{ .Release.Namespace }}.svc
        - --port=9443
        - --metrics-addr=:8080
        - --health-addr=:8081
        - --log-level=INFO
        ports:
        - containerPort: 9443
          protocol: TCP
          name: https
        - containerPort: 8080
          protocol: TCP
          name: metrics
        - containerPort: 8081
          protocol: TCP
          name: health
        volumeMounts:
        {{- if not .Values.webhook.cert.certManager.enabled }}
        - mountPath: /tmp/k8s-webhook-server/certificate-authority
          name: ca
          readOnly: true
        {{- end }}
        - mountPath: /tmp/k8s-webhook-server/serving-certs
          name: cert
          readOnly: true
        readinessProbe:
          httpGet:
            path: /readyz
            port: 8081
          initialDelaySeconds: 20
          periodSeconds: 5
      volumes:
      {{- if not .Values.webhook.cert.certManager.enabled }}
      - name: ca
        secret:
          defaultMode: 420
          secretName: mariadb-operator-webhook-ca
      {{- end }}
      - name: cert
        secret:
          defaultMode: 420
          secretName: mariadb-operator-webhook-cert
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata:
  name: mariadb-operator-webhook
  labels:
    helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
    app.kubernetes.io/name: mariadb-operator-webhook
    app.kubernetes.io/instance: {{ .Release.Name }}
    app.kubernetes.io/version: {{ .Chart.AppVersion }}
    app.kubernetes.io/managed-by: {{ .Release.Service }}
  annotations:
    {{- if .Values.webhook.cert.certManager.enabled }}
    cert-manager.io/inject-ca-from: {{ .Release.Namespace }}/mariadb-operator-webhook-cert
    {{- else }}
    k8s.mariadb.com/webhook: ''
    {{- end }}
webhooks:
- admissionReviewVersions:
  - v1
  clientConfig:
    service:
      name: mariadb-operator-webhook
      namespace: {{ .Release.Namespace }}
      path: /validate-k8s-mariadb-com-v1alpha1-backup
  failurePolicy: Fail
  name: vbackup-v1alpha1.kb.io
  rules:
  - apiGroups:
    - k8s.mariadb.com
    apiVersions:
    - v1alpha1
    operations:
    - CREATE
    - UPDATE
    resources:
    - backups
  sideEffects: None
- admissionReviewVersions:
  - v1
  clientConfig:
    service:
      name: mariadb-operator-webhook
      namespace: {{ .Release.Namespace }}
      path: /validate-k8s-mariadb-com-v1alpha1-physicalbackup
  failurePolicy: Fail
  name: vphysicalbackup-v1alpha1.kb.io
  rules:
  - apiGroups:
    - k8s.mariadb.com
    apiVersions:
    - v1alpha1
    operations:
    - CREATE
    - UPDATE
    resources:
    - physicalbackups
  sideEffects: None
- admissionReviewVersions:
  - v1
  clientConfig:
    service:
      name: mariadb-operator-webhook
      namespace: {{ .Release.Namespace }}
      path: /validate-k8s-mariadb-com-v1alpha1-pointintimerecovery
  failurePolicy: Fail
  name: vpointintimerecovery-v1alpha1.kb.io
  rules:
  - apiGroups:
    - k8s.mariadb.com
    apiVersions:
    - v1alpha1
    operations:
    - CREATE
    - UPDATE
    resources:
    - pointintimerecoveries
  sideEffects: None
- admissionReviewVersions:
  - v1
  clientConfig:
    service:
      name: mariadb-operator-webhook
      namespace: {{ .Release.Namespace }}
      path: /validate-k8s-mariadb-com-v1alpha1-connection
  failurePolicy: Fail
  name: vconnection-v1alpha1.kb.io
  rules:
  - apiGroups:
    - k8s.mariadb.com
    apiVersions:
    - v1alpha1
    operations:
    - CREATE
    - UPDATE
    resources:
    - connections
  sideEffects: None
- admissionReviewVersions:
  - v1
  clientConfig:
    service:
      name: mariadb-operator-webhook
      namespace: {{ .Release.Namespace }}
      path: /validate-k8s-mariadb-com-v1alpha1-database
  failurePolicy: Fail
  name: vdatabase-v1alpha1.kb.io
  rules:
  - apiGroups:
    - k8s.mariadb.com
    apiVersions:
    - v1alpha1
    operations:
    - CREATE
    - UPDATE
    resources:
    - databases
  sideEffects: None
- admissionReviewVersions:
  - v1
  clientConfig:
    service:
      name: mariadb-operator-webhook
      namespace: {{ .Release.Namespace }}
      path: /validate-k8s-mariadb-com-v1alpha1-grant
  failurePolicy: Fail
  name: vgrant-v1alpha1.kb.io
  rules:
  - apiGroups:
    - k8s.mariadb.com
    apiVersions:
    - v1alpha1
    operations:
    - CREATE
    - UPDATE
    resources:
    - grants
  sideEffects: None
- admissionReviewVersions:
  - v1
  clientConfig:
    service:
      name: mariadb-operator-webhook
      namespace: {{ .Release.Namespace }}
      path: /validate-k8s-mariadb-com-v1alpha1-mariadb
  failurePolicy: Fail
  name: vmariadb-v1alpha1.kb.io
  rules:
  - apiGroups:
    - k8s.mariadb.com
    apiVersions:
    - v1alpha1
    operations:
    - CREATE
    - UPDATE
    resources:
    - mariadbs
  sideEffects: None
- admissionReviewVersions:
  - v1
  clientConfig:
    service:
      name: mariadb-operator-webhook
      namespace: {{ .Release.Namespace }}
      path: /validate-k8s-mariadb-com-v1alpha1-maxscale
  failurePolicy: Fail
  name: vmaxscale-v1alpha1.kb.io
  rules:
  - apiGroups:
    - k8s.mariadb.com
    apiVersions:
    - v1alpha1
    operations:
    - CREATE
    - UPDATE
    resources:
    - maxscales
  sideEffects: None
- admissionReviewVersions:
  - v1
  clientConfig:
    service:
      name: mariadb-operator-webhook
      namespace: {{ .Release.Namespace }}
      path: /validate-k8s-mariadb-com-v1alpha1-restore
  failurePolicy: Fail
  name: vrestore-v1alpha1.kb.io
  rules:
  - apiGroups:
    - k8s.mariadb.com
    apiVersions:
    - v1alpha1
    operations:
    - CREATE
    - UPDATE
    resources:
    - restores
  sideEffects: None
- admissionReviewVersions:
  - v1
  clientConfig:
    service:
      name: mariadb-operator-webhook
      namespace: {{ .Release.Namespace }}
      path: /validate-k8s-mariadb-com-v1alpha1-sqljob
  failurePolicy: Fail
  name: vsqljob-v1alpha1.kb.io
  rules:
  - apiGroups:
    - k8s.mariadb.com
    apiVersions:
    - v1alpha1
    operations:
    - CREATE
    - UPDATE
    resources:
    - sqljobs
  sideEffects: None
- admissionReviewVersions:
  - v1
  clientConfig:
    service:
      name: mariadb-operator-webhook
      namespace: {{ .Release.Namespace }}
      path: /validate-k8s-mariadb-com-v1alpha1-user
  failurePolicy: Fail
  name: vuser-v1alpha1.kb.io
  rules:
  - apiGroups:
    - k8s.mariadb.com
    apiVersions:
    - v1alpha1
    operations:
    - CREATE
    - UPDATE
    resources:
    - users
  sideEffects: None
{{- if .Values.webhook.cert.certManager.enabled }}
---
apiVersion: cert-manager.io/v1
kind: Certificate
metadata:
  name: mariadb-operator-webhook-cert
  labels:
    helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
    app.kubernetes.io/name: mariadb-operator-webhook
    app.kubernetes.io/instance: {{ .Release.Name }}
    app.kubernetes.io/version: {{ .Chart.AppVersion }}
    app.kubernetes.io/managed-by: {{ .Release.Service }}
spec:
  commonName: mariadb-operator-webhook.{{ .Release.Namespace }}.svc
  dnsNames:
  - mariadb-operator-webhook.{{ .Release.Namespace }}.svc.cluster.local
  - mariadb-operator-webhook.{{ .Release.Namespace }}.svc
  - mariadb-operator-webhook.{{ .Release.Namespace }}
  - mariadb-operator-webhook
  issuerRef:
    kind: Issuer
    name: mariadb-operator-selfsigned-issuer
  revisionHistoryLimit: 3
  secretName: mariadb-operator-webhook-cert
---
apiVersion: cert-manager.io/v1
kind: Issuer
metadata:
  name: mariadb-operator-selfsigned-issuer
  labels:
    helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
    app.kubernetes.io/name: mariadb-operator-webhook
    app.kubernetes.io/instance: {{ .Release.Name }}
    app.kubernetes.io/version: {{ .Chart.AppVersion }}
    app.kubernetes.io/managed-by: {{ .Release.Service }}
spec:
  selfSigned: {}
{{- end }}
{{- end }}
