{{- define "rocwire.fullname" -}}
{{- $n := .Values.fullnameOverride -}}
{{- if not $n -}}
{{- $n = ternary .Release.Name (printf "%s-rocwire" .Release.Name) (contains "rocwire" .Release.Name) -}}
{{- end -}}
{{- $n | trunc 40 | trimSuffix "-" -}}
{{- end }}

{{/* What selects a component's pods: (list $ "worker"). It never changes, a DaemonSet's selector cannot. */}}
{{- define "rocwire.selector" -}}
app.kubernetes.io/name: rocwire
app.kubernetes.io/instance: {{ (index . 0).Release.Name | quote }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end }}

{{/* Labels of a component's resources; of those that are nobody's: (list $ ""). */}}
{{- define "rocwire.labels" -}}
{{- $ := index . 0 -}}
{{- with index . 1 -}}
app.kubernetes.io/component: {{ . }}
{{ end -}}
app.kubernetes.io/name: rocwire
app.kubernetes.io/instance: {{ $.Release.Name | quote }}
app.kubernetes.io/part-of: rocwire
app.kubernetes.io/managed-by: {{ $.Release.Service }}
app.kubernetes.io/version: {{ $.Chart.AppVersion | replace "+" "_" | quote }}
helm.sh/chart: {{ printf "%s-%s" $.Chart.Name $.Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" | quote }}
{{- with $.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* The name and labels of a component's resource: (list $ "worker" NAME). */}}
{{- define "rocwire.metadata" -}}
{{- $ := index . 0 -}}
name: {{ index . 2 }}
namespace: {{ $.Release.Namespace }}
labels: {{- include "rocwire.labels" (list $ (index . 1)) | nindent 2 }}
{{- end }}

{{- define "rocwire.image" -}}
{{- $ := index . 0 -}}
{{- $i := index . 1 -}}
{{- with $.Values.image.registry }}{{ trimSuffix "/" . }}/{{ end -}}
{{- $i.repository -}}
{{- if $i.digest }}@{{ $i.digest }}{{ else }}:{{ $i.tag | default ($.Chart.AppVersion | replace "+" "_") }}{{ end -}}
{{- end }}

{{- define "rocwire.metricsSecret" -}}
{{- .Values.metrics.existingSecret | default (printf "%s-metrics" (include "rocwire.fullname" .)) -}}
{{- end }}

{{/* Whether anything serves metrics. */}}
{{- define "rocwire.metrics" -}}
{{- if or .Values.exporter.enabled (and .Values.worker.enabled .Values.metrics.enabled) }}yes{{ end -}}
{{- end }}
