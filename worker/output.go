package worker

import "github.com/rocwire/rocwire/hip/hiprpc"

// printed has everything sent that kernels have printed which have ended: the client is about to hear of something that came later.
func (s *session) printed() {
	if s.settle != nil {
		s.settle()
	}
}

// output sends the client what a kernel prints. The replies that tell of the kernel's end are sent later, so the client has the text by then.
func (s *session) output(stderr bool, text []byte) {
	var b []byte
	for len(text) > 0 {
		b, text = hiprpc.AppendOutput(b[:0], stderr, text)
		_ = s.conn.Notify(hiprpc.NoticeOutput, b) // at the end of the connection, too: a reply may still follow that tells of the kernel's end
	}
}
