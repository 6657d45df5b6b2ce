package llamacpp

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"

	"github.com/rocwire/rocwire/internal/llamacpp/gguf"
)

// Tokens of every model: <unk>, <s>, </s>, one for each byte, which a tokenizer needs, and letters.
const (
	firstByte   = 3
	byteTokens  = 256
	FirstLetter = firstByte + byteTokens // the letters' first token; the last one is Vocabulary-1
)

// Shape is how large a model of the llama architecture is.
type Shape struct {
	Vocabulary int
	Width      int // of the vectors that go from layer to layer
	Heads      int // Width is a multiple of it; attention kernels want heads of 64 at least
	KVHeads    int // heads share so many of keys and values
	Inner      int // width within a layer
	Layers     int
	Context    int // tokens
}

// Small has all parts of a model and is as small as they allow.
var Small = Shape{Vocabulary: 512, Width: 256, Heads: 4, KVHeads: 2, Inner: 512, Layers: 2, Context: 512}

// Parameters is the number of elements of its matrices.
func (s *Shape) Parameters() int {
	return 2*s.Vocabulary*s.Width + s.Layers*s.Width*(2*s.Width+2*s.kv()+3*s.Inner)
}

func (s *Shape) head() int { return s.Width / s.Heads }
func (s *Shape) kv() int   { return s.KVHeads * s.head() }

// Write writes a model with random numbers, the same each time. Its matrices are of the given type.
func (s *Shape) Write(path string, matrices gguf.Type) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := gguf.Write(f, s.metadata(), s.tensors(matrices)); err != nil {
		_ = f.Close()
		return err
	}
	return f.Close()
}

func (s *Shape) metadata() []gguf.Entry {
	const normal, unknown, control, isByte = 1, 2, 3, 6 // kinds of tokens
	tokens := []string{"<unk>", "<s>", "</s>"}
	kinds := []int32{unknown, control, control}
	for i := range byteTokens {
		tokens, kinds = append(tokens, fmt.Sprintf("<0x%02X>", i)), append(kinds, isByte)
	}
	for len(tokens) < s.Vocabulary { // letters: Ā, ā, Ă …
		tokens, kinds = append(tokens, string(rune(0x100+len(tokens)-FirstLetter))), append(kinds, normal)
	}
	return []gguf.Entry{
		{Key: "general.architecture", Value: "llama"},
		{Key: "general.name", Value: "random"},
		{Key: "llama.vocab_size", Value: uint32(s.Vocabulary)},
		{Key: "llama.context_length", Value: uint32(s.Context)},
		{Key: "llama.embedding_length", Value: uint32(s.Width)},
		{Key: "llama.block_count", Value: uint32(s.Layers)},
		{Key: "llama.feed_forward_length", Value: uint32(s.Inner)},
		{Key: "llama.attention.head_count", Value: uint32(s.Heads)},
		{Key: "llama.attention.head_count_kv", Value: uint32(s.KVHeads)},
		{Key: "llama.attention.layer_norm_rms_epsilon", Value: float32(1e-5)},
		{Key: "llama.rope.dimension_count", Value: uint32(s.head())},
		{Key: "tokenizer.ggml.model", Value: "llama"},
		{Key: "tokenizer.ggml.tokens", Value: tokens},
		{Key: "tokenizer.ggml.scores", Value: make([]float32, s.Vocabulary)},
		{Key: "tokenizer.ggml.token_type", Value: kinds},
		{Key: "tokenizer.ggml.unknown_token_id", Value: uint32(0)},
		{Key: "tokenizer.ggml.bos_token_id", Value: uint32(1)},
		{Key: "tokenizer.ggml.eos_token_id", Value: uint32(2)},
		{Key: "tokenizer.ggml.add_bos_token", Value: false},
	}
}

func (s *Shape) tensors(matrices gguf.Type) []gguf.Tensor {
	random := rand.New(rand.NewPCG(1, 2))
	// matrix takes vectors of one width to another; what comes out is as large as what goes in.
	matrix := func(name string, from, to int) gguf.Tensor {
		v := make([]float32, from*to)
		for i := range v {
			v[i] = float32(random.NormFloat64() / math.Sqrt(float64(from)))
		}
		return gguf.Tensor{Name: name + ".weight", Shape: []uint64{uint64(from), uint64(to)}, Type: matrices, Values: v}
	}
	norm := func(name string) gguf.Tensor {
		v := make([]float32, s.Width)
		for i := range v {
			v[i] = float32(1 + random.NormFloat64()/4)
		}
		return gguf.Tensor{Name: name + ".weight", Shape: []uint64{uint64(s.Width)}, Type: gguf.F32, Values: v}
	}
	// The logits are spread, so that the first token and the second are not nearly the same; and only letters are ever the largest, as bytes
	// are no text until a character is complete.
	output := matrix("output", s.Width, s.Vocabulary)
	for i := range output.Values {
		if i < FirstLetter*s.Width {
			output.Values[i] = 0
		} else {
			output.Values[i] *= 4
		}
	}
	all := []gguf.Tensor{matrix("token_embd", s.Width, s.Vocabulary), norm("output_norm"), output}
	for l := range s.Layers {
		at := fmt.Sprintf("blk.%d.", l)
		all = append(all,
			norm(at+"attn_norm"),
			matrix(at+"attn_q", s.Width, s.Width),
			matrix(at+"attn_k", s.Width, s.kv()),
			matrix(at+"attn_v", s.Width, s.kv()),
			matrix(at+"attn_output", s.Width, s.Width),
			norm(at+"ffn_norm"),
			matrix(at+"ffn_gate", s.Width, s.Inner),
			matrix(at+"ffn_up", s.Width, s.Inner),
			matrix(at+"ffn_down", s.Inner, s.Width))
	}
	return all
}
