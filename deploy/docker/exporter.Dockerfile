# The exporter: metrics of a worker's GPUs, or of this machine's, for Prometheus,
# OpenTelemetry and GreptimeDB, and a page to look at.
#
#   docker build -f deploy/docker/exporter.Dockerfile -t rocwire/exporter .
FROM golang:1.26-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
# What is built tells this as its version: --build-arg ROCWIRE_VERSION=v1.2.3
ARG ROCWIRE_VERSION
RUN go build -trimpath -ldflags "$(scripts/ldflags.sh)" -o /out/ ./cmd/gpu-exporter ./cmd/smi-remote && install -d -o 65532 -g 65532 /state

FROM debian:bookworm-slim
COPY --from=build /out/ /usr/local/bin/
# What push sinks could not deliver yet waits here.
COPY --from=build --chown=65532:65532 /state /var/lib/gpu-exporter
VOLUME /var/lib/gpu-exporter
USER 65532:65532
EXPOSE 9400
# It does not start before it is told who may read: --web-config with a password or
# certificates over TLS; or --insecure, where nobody else can reach the container.
ENTRYPOINT ["gpu-exporter", "--listen", "0.0.0.0:9400", "--queue-dir", "/var/lib/gpu-exporter"]
