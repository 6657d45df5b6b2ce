# The worker: serves GPUs to HIP programs elsewhere and tells who uses them. With
# --backend sim, the default here, the GPU is simulated; for real ones start from an
# image with ROCm (ROCM=rocm/dev-ubuntu-24.04:7.2 or the like) and pass /dev/kfd and
# /dev/dri.
#
#   docker build -f deploy/docker/worker.Dockerfile -t rocwire/worker .
ARG ROCM=debian:bookworm-slim

FROM golang:1.26-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
# What is built tells this as its version: --build-arg ROCWIRE_VERSION=v1.2.3
ARG ROCWIRE_VERSION
RUN go build -trimpath -ldflags "$(scripts/ldflags.sh)" -o /out/ ./cmd/hip-worker ./cmd/hip-session ./cmd/smi-remote

FROM ${ROCM}
COPY --from=build /out/ /usr/local/bin/
# Port 18515 is HIP's and AMD SMI's, 9400 the metrics' and the page's. A TensorFusion
# worker listens on TF_WORKER_PORT=8000.
EXPOSE 18515 9400
# Not root. With real GPUs add the groups of /dev/kfd and /dev/dri/renderD*.
USER 65532:65532
# It does not start before it is told who may come in: --tls-cert, --tls-key and one of
# --tls-client-ca, --token-file, --oidc-issuer; or --insecure, where nobody else can
# reach the container.
ENTRYPOINT ["hip-worker", "--listen", "0.0.0.0"]
CMD ["--backend", "auto"]
