{{/* The Secret with a component's certificate: (list $ "worker"). */}}
{{- define "rocwire.tlsSecret" -}}
{{- $ := index . 0 -}}
{{- if eq $.Values.tls.source "existing" -}}
{{- $key := printf "%sSecret" (index . 1) -}}
{{- index $.Values.tls.existing $key | required (printf "tls.existing.%s: tls.source is existing, and no Secret is named" $key) -}}
{{- else -}}
{{- printf "%s-%s-tls" (include "rocwire.fullname" $) (index . 1) -}}
{{- end -}}
{{- end }}

{{/* Components that need a certificate, as JSON. */}}
{{- define "rocwire.tlsComponents" -}}
{{- $c := list -}}
{{- if .Values.worker.enabled }}{{ $c = append $c "worker" }}{{ end -}}
{{- if .Values.exporter.enabled }}{{ $c = append $c "exporter" }}{{ end -}}
{{- toJson $c -}}
{{- end }}

{{/* The names that a component's certificate is for, as JSON. The first is what Prometheus asks for. */}}
{{- define "rocwire.tlsNames" -}}
{{- $ := index . 0 -}}
{{- $service := printf "%s-%s" (include "rocwire.fullname" $) (index . 1) -}}
{{- $ns := $.Release.Namespace -}}
{{- $names := list (printf "%s.%s.svc" $service $ns) (printf "%s.%s.svc.cluster.local" $service $ns) (printf "%s.%s" $service $ns) $service -}}
{{- if eq (index . 1) "worker" -}}
{{- $names = concat $names $.Values.tls.workerNames -}}
{{- end -}}
{{- toJson $names -}}
{{- end }}
