{{- if and .Values.webhook.enabled .Values.certController.enabled (not .Values.webhook.cert.certManager.enabled) }}
apiVersion: v1
kind: ServiceAccount
metadata:
  name: mariadb-operator-cert-controller-cert-controller
  labels:
    helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
    app.kubernetes.io/name: mariadb-operator-cert-controller
    app.kubernetes.io/instance: {{ .Release.Name }}
    app.kubernetes.io/version: {{ .Chart.AppVersion }}
    app.kubernetes.io/managed-by: {{ .Release.Service }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: mariadb-operator-cert-controller
rules:
- apiGroups:
  - admissionregistration.k8s.io
  resources:
  - validatingwebhookconfigurations
  - mutatingwebhookconfigurations
  verbs:
  - get
  - list
  - update
  - patch
  - watch
- apiGroups:
  - ''
  resources:
  - secrets
  verbs:
  - create
  - list
  - patch
  - watch
- apiGroups:
  - discovery.k8s.io
  resources:
  - endpointslices
  - endpointslices/restricted
  verbs:
  - get
  - list
  - watch
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: mariadb-operator-cert-controller
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: mariadb-operator-cert-controller
subjects:
- kind: ServiceAccount
  name: mariadb-operator-cert-controller-cert-controller
  namespace: {{ .Release.Namespace }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: mariadb-operator-cert-controller
rules:
- apiGroups:
  - coordination.k8s.io
  resources:
  - leases
  verbs:
  - get
  - list
  - watch
  - create
  - update
  - patch
  - delete
- apiGroups:
  - ''
  resources:
  - events
  verbs:
  - create
  - patch
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: mariadb-operator-cert-controller
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: Role
  name: mariadb-operator-cert-controller
subjects:
- kind: ServiceAccount
  name: mariadb-operator-cert-controller-cert-controller
  namespace: {{ .Release.Namespace }}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: mariadb-operator-cert-controller
  labels:
    helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
    app.kubernetes.io/name: mariadb-operator-cert-controller
    app.kubernetes.io/instance: {{ .Release.Name }}
    app.kubernetes.io/version: {{ .Chart.AppVersion }}
    app.kubernetes.io/managed-by: {{ .Release.Service }}
spec:
  revisionHistoryLimit: 10
  selector:
    matchLabels:
      app.kubernetes.io/name: mariadb-operator-cert-controller
      app.kubernetes.io/instance: {{ .Release.Name }}
  template:
    metadata:
      labels:
        app.kubernetes.io/name: mariadb-operator-cert-controller
        app.kubernetes.io/instance: {{ .Release.Name }}
    spec:
      serviceAccountName: mariadb-operator-cert-controller-cert-controller
      automountServiceAccountToken: true
      {{- with .Values.certController.nodeSelector }}
      nodeSelector: {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with .Values.certController.tolerations }}
      tolerations: {{- toYaml . | nindent 8 }}
      {{- end }}
      containers:
      - image: ghcr.io/mariadb-operator/mariadb-operator:{{ .Chart.AppVersion }}
        imagePullPolicy: IfNotPresent
        {{- with .Values.certController.resources }}
        resources: {{- toYaml . | nindent 10 }}
        {{- end }}
        name: cert-controller
        args:
        - cert-controller
        - --ca-secret-name=mariadb-operator-webhook-ca
        - --ca-secret-namespace={{ .Release.Namespace }}
        - --ca-lifetime=26280h
        - --cert-secret-name=mariadb-operator-webhook-cert
        - --cert-secret-namespace={{ .Release.Namespace }}
        - --cert-lifetime=2160h
        - --renew-before-percentage=33
        - --service-name=mariadb-operator-webhook
        - --service-namespace={{ .Release.Namespace }}
        - --requeue-duration=5m
        - --metrics-addr=:8080
        - --health-addr=:8081
        - --log-level=INFO
        ports:
        - containerPort: 8080
          protocol: TCP
          name: metrics
        - containerPort: 8081
          protocol: TCP
          name: health
        env:
        - name: CLUSTER_NAME
          value: cluster.local
        readinessProbe:
          httpGet:
            path: /readyz
            port: 8081
          initialDelaySeconds: 20
          periodSeconds: 5
{{- end }}
