apiVersion: v1
kind: ServiceAccount
metadata:
  name: mariadb-operator
  labels:
    helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
    app.kubernetes.io/name: mariadb-operator
    app.kubernetes.io/instance: {{ .Release.Name }}
    app.kubernetes.io/version: {{ .Chart.AppVersion }}
    app.kubernetes.io/managed-by: {{ .Release.Service }}
---
apiVersion: v1
data:
  MARIADB_OPERATOR_IMAGE: ghcr.io/mariadb-operator/mariadb-operator:{{ .Chart.AppVersion }}
  MARIADB_GALERA_LIB_PATH: /usr/lib/galera/libgalera_smm.so
  MARIADB_DEFAULT_VERSION: '11.8'
  RELATED_IMAGE_MARIADB: mariadb:11.8.8
  RELATED_IMAGE_MARIADB_NAME: mariadb
  RELATED_IMAGE_MAXSCALE: mariadb/maxscale:23.08.5
  RELATED_IMAGE_EXPORTER: prom/mysqld-exporter:v0.15.1
  RELATED_IMAGE_EXPORTER_MAXSCALE: mariadb/maxscale-prometheus-exporter-ubi:v0.0.1
kind: ConfigMap
metadata:
  name: mariadb-operator-env
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: mariadb-operator-view
  labels:
    rbac.authorization.k8s.io/aggregate-to-view: 'true'
rules:
- apiGroups:
  - k8s.mariadb.com
  resources:
  - '*'
  verbs:
  - get
  - list
  - watch
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: mariadb-operator-edit
  labels:
    rbac.authorization.k8s.io/aggregate-to-edit: 'true'
rules:
- apiGroups:
  - k8s.mariadb.com
  resources:
  - '*'
  verbs:
  - create
  - update
  - patch
  - delete
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: mariadb-operator
rules:
- apiGroups:
  - ''
  resources:
  - configmaps
  verbs:
  - create
  - delete
  - get
  - list
  - patch
  - watch
- apiGroups:
  - ''
  resources:
  - events
  - secrets
  - serviceaccounts
  - services
  verbs:
  - create
  - list
  - patch
  - watch
- apiGroups:
  - ''
  resources:
  - persistentvolumeclaims
  verbs:
  - create
  - delete
  - deletecollection
  - list
  - patch
  - watch
- apiGroups:
  - ''
  resources:
  - pods
  verbs:
  - delete
  - get
  - list
  - patch
  - watch
- apiGroups:
  - ''
  resources:
  - pods/log
  verbs:
  - get
- apiGroups:
  - apps
  resources:
  - deployments
  verbs:
  - create
  - list
  - patch
  - watch
- apiGroups:
  - apps
  resources:
  - statefulsets
  verbs:
  - create
  - delete
  - get
  - list
  - patch
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
  - batch
  resources:
  - cronjobs
  verbs:
  - create
  - list
  - patch
  - watch
- apiGroups:
  - batch
  resources:
  - jobs
  verbs:
  - create
  - delete
  - get
  - list
  - patch
  - watch
- apiGroups:
  - cert-manager.io
  resources:
  - certificates
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
  - create
  - get
  - list
  - patch
  - watch
- apiGroups:
  - events.k8s.io
  resources:
  - events
  verbs:
  - create
  - list
  - patch
  - watch
- apiGroups:
  - k8s.mariadb.com
  resources:
  - backups
  - connections
  - databases
  - externalmariadbs
  - grants
  - mariadbs
  - maxscales
  - physicalbackups
  - restores
  - sqljobs
  - users
  verbs:
  - create
  - delete
  - get
  - list
  - patch
  - update
  - watch
- apiGroups:
  - k8s.mariadb.com
  resources:
  - backups/finalizers
  - connections/finalizers
  - databases/finalizers
  - externalmariadbs/finalizers
  - grants/finalizers
  - mariadbs/finalizers
  - maxscales/finalizers
  - physicalbackups/finalizers
  - restores/finalizers
  - sqljobs/finalizers
  - users/finalizers
  verbs:
  - update
- apiGroups:
  - k8s.mariadb.com
  resources:
  - backups/status
  - connections/status
  - databases/status
  - externalmariadbs/status
  - grants/status
  - mariadbs/status
  - maxscales/status
  - physicalbackups/status
  - pointintimerecoveries/status
  - restores/status
  - sqljobs/status
  - users/status
  verbs:
  - get
  - patch
  - update
- apiGroups:
  - k8s.mariadb.com
  resources:
  - maxscale
  verbs:
  - create
  - list
  - patch
  - watch
- apiGroups:
  - k8s.mariadb.com
  resources:
  - pointintimerecoveries
  verbs:
  - get
  - list
  - watch
- apiGroups:
  - monitoring.coreos.com
  resources:
  - servicemonitors
  verbs:
  - create
  - list
  - patch
  - watch
- apiGroups:
  - policy
  resources:
  - poddisruptionbudgets
  verbs:
  - create
  - list
  - patch
  - watch
- apiGroups:
  - rbac.authorization.k8s.io
  resources:
  - clusterrolebindings
  - rolebindings
  - roles
  verbs:
  - create
  - list
  - patch
  - watch
- apiGroups:
  - snapshot.storage.k8s.io
  resources:
  - volumesnapshots
  verbs:
  - create
  - delete
  - get
  - list
  - patch
  - watch
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: mariadb-operator
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: mariadb-operator
subjects:
- kind: ServiceAccount
  name: mariadb-operator
  namespace: {{ .Release.Namespace }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: mariadb-operator:auth-delegator
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: system:auth-delegator
subjects:
- kind: ServiceAccount
  name: mariadb-operator
  namespace: {{ .Release.Namespace }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: mariadb-operator
rules:
- apiGroups:
  - ''
  resources:
  - configmaps
  verbs:
  - get
  - list
  - watch
  - create
  - update
  - patch
  - delete
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
  name: mariadb-operator
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: Role
  name: mariadb-operator
subjects:
- kind: ServiceAccount
  name: mariadb-operator
  namespace: {{ .Release.Namespace }}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: mariadb-operator
  labels:
    helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
    app.kubernetes.io/name: mariadb-operator
    app.kubernetes.io/instance: {{ .Release.Name }}
    app.kubernetes.io/version: {{ .Chart.AppVersion }}
    app.kubernetes.io/managed-by: {{ .Release.Service }}
spec:
  revisionHistoryLimit: 10
  selector:
    matchLabels:
      app.kubernetes.io/name: mariadb-operator
      app.kubernetes.io/instance: {{ .Release.Name }}
  template:
    metadata:
      annotations:
        checksum/config: {{ .Chart.AppVersion | sha256sum }}
      labels:
        app.kubernetes.io/name: mariadb-operator
        app.kubernetes.io/instance: {{ .Release.Name }}
    spec:
      serviceAccountName: mariadb-operator
      automountServiceAccountToken: true
      terminationGracePeriodSeconds: 10
      {{- with .Values.nodeSelector }}
      nodeSelector: {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with .Values.tolerations }}
      tolerations: {{- toYaml . | nindent 8 }}
      {{- end }}
      containers:
      - image: ghcr.io/mariadb-operator/mariadb-operator:{{ .Chart.AppVersion }}
        imagePullPolicy: IfNotPresent
        {{- with .Values.resources }}
        resources: {{- toYaml . | nindent 10 }}
        {{- end }}
        name: controller
        args:
        - --metrics-addr=:8080
        - --log-level=INFO
        ports:
        - containerPort: 8080
          protocol: TCP
          name: metrics
        envFrom:
        - configMapRef:
            name: mariadb-operator-env
        env:
        - name: CLUSTER_NAME
          value: cluster.local
        - name: MARIADB_OPERATOR_NAME
          valueFrom:
            fieldRef:
              fieldPath: spec.serviceAccountName
        - name: MARIADB_OPERATOR_NAMESPACE
          valueFrom:
            fieldRef:
              fieldPath: metadata.namespace
        - name: MARIADB_OPERATOR_SA_PATH
          value: /var/run/secrets/kubernetes.io/serviceaccount/token
