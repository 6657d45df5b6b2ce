package greptimetest

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"sync"

	gpb "github.com/GreptimeTeam/greptime-proto/go/greptime/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/status"
)

// Server is one server. Its fields may be changed while it runs, under Lock.
type Server struct {
	sync.Mutex
	User, Password string // "": nobody need authenticate
	Database       string // "": any
	TLS            *tls.Config

	// Before is asked before a request is handled; an error is the answer. n counts the
	// requests, from 1.
	Before func(n int, table string) error
	// Took changes how many rows the server says it took.
	Took func(rows int) int

	Requests, Streams, Calls, HealthChecks int
	tables                                 map[string]*Table
	address                                string
	grpc                                   *grpc.Server
}

// Start listens, after Stop at the same address as before.
func (s *Server) Start() error {
	s.Lock()
	defer s.Unlock()
	if s.address == "" {
		s.address = "127.0.0.1:0"
	}
	ln, err := net.Listen("tcp", s.address)
	if err != nil {
		return err
	}
	s.address = ln.Addr().String()
	var opts []grpc.ServerOption
	if s.TLS != nil {
		opts = append(opts, grpc.Creds(credentials.NewTLS(s.TLS)))
	}
	s.grpc = grpc.NewServer(opts...)
	gpb.RegisterGreptimeDatabaseServer(s.grpc, &database{s: s})
	gpb.RegisterHealthCheckServer(s.grpc, &health{s: s})
	go func(g *grpc.Server) { _ = g.Serve(ln) }(s.grpc) // it ends with Stop
	return nil
}

// Address is where it listens, HOST:PORT.
func (s *Server) Address() string {
	s.Lock()
	defer s.Unlock()
	return s.address
}

// Stop breaks all connections and does not listen any more. The rows are kept.
func (s *Server) Stop() {
	s.Lock()
	g := s.grpc
	s.grpc = nil
	s.Unlock()
	if g != nil {
		g.Stop()
	}
}

type health struct {
	gpb.UnimplementedHealthCheckServer
	s *Server
}

func (h *health) HealthCheck(context.Context, *gpb.HealthCheckRequest) (*gpb.HealthCheckResponse, error) {
	h.s.Lock()
	defer h.s.Unlock()
	h.s.HealthChecks++
	return &gpb.HealthCheckResponse{}, nil
}

type database struct {
	gpb.UnimplementedGreptimeDatabaseServer
	s *Server
}

// Handle is one request with one answer.
func (d *database) Handle(_ context.Context, r *gpb.GreptimeRequest) (*gpb.GreptimeResponse, error) {
	d.s.Lock()
	d.s.Calls++
	d.s.Unlock()
	n, err := d.s.handle(r)
	if err != nil {
		return nil, err
	}
	return d.s.answer(n), nil
}

// HandleRequests is requests one after the other, and one answer. Like the real one, it
// ends the stream at the first that fails, with those before it done.
func (d *database) HandleRequests(stream gpb.GreptimeDatabase_HandleRequestsServer) error {
	d.s.Lock()
	d.s.Streams++
	d.s.Unlock()
	total := 0
	for {
		r, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return stream.SendAndClose(d.s.answer(total))
		}
		if err != nil {
			return err
		}
		n, err := d.s.handle(r)
		if err != nil {
			return err
		}
		total += n
	}
}

func (s *Server) answer(n int) *gpb.GreptimeResponse {
	s.Lock()
	defer s.Unlock()
	if s.Took != nil {
		n = s.Took(n)
	}
	return &gpb.GreptimeResponse{Response: &gpb.GreptimeResponse_AffectedRows{AffectedRows: &gpb.AffectedRows{Value: uint32(n)}}}
}

func (s *Server) handle(r *gpb.GreptimeRequest) (rows int, err error) {
	s.Lock()
	defer s.Unlock()
	if err := s.authorize(r.GetHeader()); err != nil {
		return 0, err
	}
	inserts := r.GetRowInserts()
	if inserts == nil {
		return 0, status.Error(codes.Unimplemented, "only rows can be inserted here")
	}
	for _, in := range inserts.GetInserts() {
		s.Requests++
		if s.Before != nil {
			if err := s.Before(s.Requests, in.GetTableName()); err != nil {
				return 0, err
			}
		}
		n, err := s.insert(in)
		if err != nil {
			return 0, status.Errorf(codes.InvalidArgument, "table %s: %v", in.GetTableName(), err)
		}
		rows += n
	}
	return rows, nil
}

func (s *Server) authorize(h *gpb.RequestHeader) error {
	if s.Database != "" && h.GetDbname() != s.Database {
		return status.Errorf(codes.NotFound, "database not found: %s", h.GetDbname())
	}
	b := h.GetAuthorization().GetBasic()
	if s.User != "" && b == nil {
		return status.Error(codes.Unauthenticated, "no authorization header")
	}
	if b.GetUsername() != s.User || b.GetPassword() != s.Password {
		return status.Error(codes.Unauthenticated, "user and password do not match")
	}
	return nil
}
