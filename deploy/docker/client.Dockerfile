# The client for TensorFusion: its init container copies the remote libraries to
# /tensor-fusion, from where the pod's programs load them before any other. They ask the
# operator for their worker (TENSOR_FUSION_OPERATOR_GET_CONNECTION_URL).
#
#   docker build -f deploy/docker/client.Dockerfile -t rocwire/tensorfusion-client .
FROM golang:1.26-bookworm AS build
RUN apt-get update && apt-get install -y --no-install-recommends gcc make && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
# What is built tells this as its version: --build-arg ROCWIRE_VERSION=v1.2.3
ARG ROCWIRE_VERSION
RUN make lib

FROM debian:bookworm-slim
COPY --from=build /src/build/lib/librocwire.so /src/build/lib/libamdhip64.so.[67] /src/build/lib/libamd_smi.so.27 /src/build/lib/librocm_smi64.so.1 /build/lib/
COPY --chmod=755 deploy/docker/install-client.sh /install-client.sh
ENTRYPOINT ["/install-client.sh"]
CMD ["/tensor-fusion"]
