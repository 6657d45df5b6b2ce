# The driver for Kubernetes' Dynamic Resource Allocation, and the remote libraries, which its init container puts on the node.
#
#   docker build -f deploy/docker/dra.Dockerfile -t rocwire/dra .
FROM golang:1.26-bookworm AS build
RUN apt-get update && apt-get install -y --no-install-recommends gcc make && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
# What is built tells this as its version: --build-arg ROCWIRE_VERSION=v1.2.3
ARG ROCWIRE_VERSION
RUN make lib && CGO_ENABLED=0 go build -trimpath -ldflags "$(scripts/ldflags.sh)" -o /out/ ./cmd/rocwire-dra

FROM debian:bookworm-slim
COPY --from=build /src/build/lib/librocwire.so /src/build/lib/libamdhip64.so.[67] /src/build/lib/libamd_smi.so.27 /src/build/lib/librocm_smi64.so.1 /build/lib/
COPY --from=build /out/rocwire-dra /usr/local/bin/
COPY --chmod=755 deploy/docker/install-client.sh /install-client.sh
ENTRYPOINT ["rocwire-dra"]
