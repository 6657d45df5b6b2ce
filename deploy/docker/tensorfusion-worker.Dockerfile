# The worker of a TensorFusion pool: hip-worker on port 8000, on AMD's ROCm.
#
#   docker build -f deploy/docker/tensorfusion-worker.Dockerfile -t rocwire/tensorfusion-worker \
#     --build-arg ROCM_VERSION=7.10.0 --build-arg AMDGPU_FAMILY=gfx94X-dcgpu .
FROM golang:1.26-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
# What is built tells this as its version: --build-arg ROCWIRE_VERSION=v1.2.3
ARG ROCWIRE_VERSION
RUN go build -trimpath -ldflags "$(scripts/ldflags.sh)" -o /out/ ./cmd/hip-worker ./cmd/hip-session ./cmd/smi-remote

FROM ubuntu:24.04 AS rocm
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates curl && rm -rf /var/lib/apt/lists/*
ARG ROCM_VERSION=7.10.0
ARG AMDGPU_FAMILY=gfx94X-dcgpu
ARG RELEASE_TYPE=stable
# Where the tarballs are, if not on AMD's servers.
ARG ROCM_URL
COPY --chmod=755 scripts/install_rocm_tarball.sh /usr/local/bin/
RUN install_rocm_tarball.sh ${ROCM_URL:+--base-url "$ROCM_URL"} "$ROCM_VERSION" "$AMDGPU_FAMILY" "$RELEASE_TYPE"

FROM ubuntu:24.04
RUN apt-get update && apt-get install -y --no-install-recommends libatomic1 libdrm2 libelf1t64 libnuma1 && rm -rf /var/lib/apt/lists/*
COPY --from=rocm /opt /opt
COPY --from=build /out/ /usr/local/bin/
COPY deploy/docker/tensorfusion-worker.yaml /etc/rocwire/worker.yaml
# TensorFusion's operator starts "./tensor-fusion-worker -p 8000" in place of what an image
# says, so that is the worker's name here, and its settings are in the file: what a pod's args
# and variables say goes before it.
WORKDIR /app
RUN ln -s /usr/local/bin/hip-worker tensor-fusion-worker
ENV ROCM_PATH=/opt/rocm LD_LIBRARY_PATH=/opt/rocm/lib TF_WORKER_PORT=8000 ROCWIRE_WORKER_CONFIG=/etc/rocwire/worker.yaml
EXPOSE 8000 9400
# Not root: the pool's manifest adds the groups of /dev/kfd and /dev/dri/renderD*.
USER 65532:65532
ENTRYPOINT ["./tensor-fusion-worker"]
