{{- define "rocwire.workerArgs" -}}
{{- $w := .Values.worker -}}
{{- $a := $w.access -}}
{{- if not (or $a.serviceAccounts $a.oidcIssuer $a.tokensSecret $a.clientCASecret) -}}
{{- fail "worker.access lets in nobody: serviceAccounts, oidcIssuer, tokensSecret or clientCASecret" -}}
{{- end -}}
{{- if and $a.serviceAccounts $a.oidcIssuer -}}
{{- fail "worker.access has two issuers: with oidcIssuer, serviceAccounts must be false" -}}
{{- end -}}
{{- $args := list "--listen" "0.0.0.0" "--backend" $w.backend "--tls-cert" "/etc/rocwire/tls/tls.crt" "--tls-key" "/etc/rocwire/tls/tls.key" -}}
{{- if eq $w.backend "sim" -}}
{{- $args = concat $args (list "--sim-arch" $w.sim.arch "--sim-cards" (toString $w.sim.cards) "--sim-memory" $w.sim.memory) -}}
{{- end -}}
{{- if $a.serviceAccounts }}{{ $args = concat $args (list "--oidc-issuer" "kubernetes") }}{{ end -}}
{{- with $a.oidcIssuer }}{{ $args = concat $args (list "--oidc-issuer" .) }}{{ end -}}
{{- with $a.oidcAudience }}{{ $args = concat $args (list "--oidc-audience" .) }}{{ end -}}
{{- if $a.tokensSecret }}{{ $args = concat $args (list "--token-file" "/etc/rocwire/tokens/tokens.yaml") }}{{ end -}}
{{- if $a.clientCASecret }}{{ $args = concat $args (list "--tls-client-ca" "/etc/rocwire/client-ca/ca.crt") }}{{ end -}}
{{- if $a.issuedTokens }}{{ $args = concat $args (list "--issued-tokens" "/var/lib/rocwire/issued.json") }}{{ end -}}
{{- if $a.allowSet }}{{ $args = append $args "--smi-allow-set" }}{{ end -}}
{{- with $w.audit }}{{ $args = concat $args (list "--audit" .) }}{{ end -}}
{{- range $flag, $v := dict "--max-sessions" $w.sessions.max "--max-sessions-per-address" $w.sessions.maxPerAddress "--max-sessions-per-user" $w.sessions.maxPerUser
	"--park" $w.sessions.park "--session-memory" $w.quota.memory "--session-host-memory" $w.quota.hostMemory "--session-compute" $w.quota.compute -}}
{{- if ne (toString $v) "" }}{{ $args = concat $args (list $flag (toString $v)) }}{{ end -}}
{{- end -}}
{{- if .Values.metrics.enabled }}{{ $args = concat $args (list "--metrics-addr" "0.0.0.0:9400" "--web-config" "/etc/rocwire/web/web.yml") }}{{ end -}}
{{- with .Values.clusterName }}{{ $args = concat $args (list "--cluster" .) }}{{ end -}}
{{- $args = concat $args (list "--queue-dir" "/var/lib/rocwire/queue" "--host" (ternary "$(POD_NAME)" "$(NODE_NAME)" (eq $w.backend "sim"))) -}}
{{- toYaml (concat $args $w.extraArgs) -}}
{{- end }}
