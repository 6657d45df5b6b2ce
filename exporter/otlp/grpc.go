package otlp

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/metadata"
)

// Methods of OTLP/gRPC.
const (
	metricsMethod = "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export"
	tracesMethod  = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
)

// grpcSender calls Export with requests that are encoded already.
type grpcSender struct {
	conn    *grpc.ClientConn
	method  string
	headers metadata.MD
	options []grpc.CallOption
	reply   reply
	taken   func(partial)
}

func newGRPCSender(s *Signal, t target, method, agent string, r reply, taken func(partial)) (*grpcSender, error) {
	creds := insecure.NewCredentials()
	if t.secure {
		c, err := s.tls()
		if err != nil {
			return nil, err
		}
		creds = credentials.NewTLS(c)
	}
	conn, err := grpc.NewClient(t.host, grpc.WithTransportCredentials(creds), grpc.WithUserAgent(agent))
	if err != nil {
		return nil, wrong("the endpoint: %w", err)
	}
	g := &grpcSender{conn: conn, method: method, headers: metadata.MD{}, reply: r, taken: taken}
	for _, h := range s.Headers {
		g.headers.Append(h.Key, h.Value)
	}
	g.options = []grpc.CallOption{grpc.ForceCodecV2(rawCodec{}), grpc.MaxCallRecvMsgSize(maxReply)}
	if !s.NoGzip {
		g.options = append(g.options, grpc.UseCompressor(gzip.Name))
	}
	return g, nil
}

// send is a pusher's Send.
func (g *grpcSender) send(ctx context.Context, record []byte) error {
	body, err := unpack(record)
	if err != nil {
		return err
	}
	var answer []byte
	if err := g.conn.Invoke(metadata.NewOutgoingContext(ctx, g.headers), g.method, body, &answer, g.options...); err != nil {
		return grpcOutcome(err)
	}
	g.taken(readReply(g.reply, answer))
	return nil
}

func (g *grpcSender) close() { _ = g.conn.Close() }

// rawCodec passes messages on as they are.
type rawCodec struct{}

func (rawCodec) Name() string { return "proto" }

func (rawCodec) Marshal(v any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(v.([]byte))}, nil
}

func (rawCodec) Unmarshal(data mem.BufferSlice, v any) error {
	*v.(*[]byte) = data.Materialize()
	return nil
}
