{{/* What pods of all components have alike: (list $ "worker"). */}}
{{- define "rocwire.podMetadata" -}}
{{- $ := index . 0 -}}
{{- $c := index $.Values (index . 1) -}}
labels:
  {{- include "rocwire.selector" . | nindent 2 }}
  app.kubernetes.io/part-of: rocwire
  {{- with $.Values.commonLabels }}{{ toYaml . | nindent 2 }}{{ end }}
  {{- with $c.podLabels }}{{ toYaml . | nindent 2 }}{{ end }}
{{- with $c.podAnnotations }}
annotations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "rocwire.podPlace" -}}
{{- $ := index . 0 -}}
{{- $c := index $.Values (index . 1) -}}
serviceAccountName: {{ include "rocwire.fullname" $ }}-{{ index . 1 }}
{{- with $.Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- with $c.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with $c.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $c.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
terminationGracePeriodSeconds: {{ $c.terminationGracePeriodSeconds }}
{{- end }}

{{- define "rocwire.env" -}}
env:
  - name: NODE_NAME
    valueFrom: {fieldRef: {fieldPath: spec.nodeName}}
  {{- with . }}{{ toYaml . | nindent 2 }}{{ end }}
{{- end }}
