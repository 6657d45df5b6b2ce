# A HIP program without a GPU: what compose.yaml runs against the worker.
FROM golang:1.26-bookworm AS build
RUN apt-get update && apt-get install -y --no-install-recommends gcc make && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
# What is built tells this as its version: --build-arg ROCWIRE_VERSION=v1.2.3
ARG ROCWIRE_VERSION
RUN make build/examples/hello_hip

FROM debian:bookworm-slim
COPY --from=build /src/build/lib/librocwire.so /src/build/lib/libamdhip64.so.6 /src/build/lib/libamd_smi.so.27 /build/lib/
COPY --from=build /src/build/examples/hello_hip /build/examples/
USER 65532:65532
CMD ["sh", "-c", "while /build/examples/hello_hip --spin 20; do sleep 5; done"]
