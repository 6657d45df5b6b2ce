# The provider for TensorFusion: the middleware image of an AMD ProviderConfig. The
# hypervisor's init container copies /build to where it loads the library from, with the
# image's own sh and cp.
#
#   docker build -f deploy/docker/provider.Dockerfile -t rocwire/tensorfusion-provider .
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
COPY --from=build /src/build/lib/libaccelerator_amd.so /build/lib/
COPY deploy/tensorfusion/metadata.yaml /build/metadata.yaml
CMD ["sh", "-c", "cp -r /build/. /run/tensor-fusion"]
