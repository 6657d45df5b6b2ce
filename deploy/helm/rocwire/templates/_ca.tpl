{{/* The workers' CA where clients are: (list $ PEM). */}}
{{- define "rocwire.caConfigMaps" -}}
{{- $ := index . 0 -}}
{{- $pem := index . 1 -}}
{{- range prepend $.Values.clients.namespaces $.Release.Namespace | uniq }}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ $.Values.clients.caConfigMap }}
  namespace: {{ . }}
  labels: {{- include "rocwire.labels" (list $ "") | nindent 4 }}
data:
  ca.crt: {{ $pem | quote }}
{{- end }}
{{- end }}
