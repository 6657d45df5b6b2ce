package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"

	"github.com/rocwire/rocwire/conformance/internal/gguf"
)

// The model: of the llama architecture, with all its parts and as small as they allow. Four heads share two of keys and values, and a head is
// as wide as attention kernels demand.
const (
	modelVocabulary = 512
	modelWidth      = 256
	modelHeads      = 4
	modelKVHeads    = 2
	modelHead       = modelWidth / modelHeads
	modelInner      = 512
	modelLayers     = 2
	modelContext    = 512
	modelBytes      = 256 // tokens that are a byte each: a tokenizer needs them
	modelFirst      = 3   // of these; before them are <unk>, <s> and </s>
)

// writeModel writes the model with random numbers, the same each time. Its matrices are of the given type.
func writeModel(path string, matrices gguf.Type) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := gguf.Write(f, modelMetadata(), modelTensors(matrices)); err != nil {
		_ = f.Close()
		return err
	}
	return f.Close()
}

func modelMetadata() []gguf.Entry {
	const normal, unknown, control, isByte = 1, 2, 3, 6 // kinds of tokens
	tokens := []string{"<unk>", "<s>", "</s>"}
	kinds := []int32{unknown, control, control}
	for i := range modelBytes {
		tokens, kinds = append(tokens, fmt.Sprintf("<0x%02X>", i)), append(kinds, isByte)
	}
	for len(tokens) < modelVocabulary { // letters: Ā, ā, Ă …
		tokens, kinds = append(tokens, string(rune(0x100+len(tokens)-modelBytes-modelFirst))), append(kinds, normal)
	}
	return []gguf.Entry{
		{Key: "general.architecture", Value: "llama"},
		{Key: "general.name", Value: "random"},
		{Key: "llama.vocab_size", Value: uint32(modelVocabulary)},
		{Key: "llama.context_length", Value: uint32(modelContext)},
		{Key: "llama.embedding_length", Value: uint32(modelWidth)},
		{Key: "llama.block_count", Value: uint32(modelLayers)},
		{Key: "llama.feed_forward_length", Value: uint32(modelInner)},
		{Key: "llama.attention.head_count", Value: uint32(modelHeads)},
		{Key: "llama.attention.head_count_kv", Value: uint32(modelKVHeads)},
		{Key: "llama.attention.layer_norm_rms_epsilon", Value: float32(1e-5)},
		{Key: "llama.rope.dimension_count", Value: uint32(modelHead)},
		{Key: "tokenizer.ggml.model", Value: "llama"},
		{Key: "tokenizer.ggml.tokens", Value: tokens},
		{Key: "tokenizer.ggml.scores", Value: make([]float32, modelVocabulary)},
		{Key: "tokenizer.ggml.token_type", Value: kinds},
		{Key: "tokenizer.ggml.unknown_token_id", Value: uint32(0)},
		{Key: "tokenizer.ggml.bos_token_id", Value: uint32(1)},
		{Key: "tokenizer.ggml.eos_token_id", Value: uint32(2)},
		{Key: "tokenizer.ggml.add_bos_token", Value: false},
	}
}

func modelTensors(matrices gguf.Type) []gguf.Tensor {
	random := rand.New(rand.NewPCG(1, 2))
	// matrix takes vectors of one width to another; what comes out is as large as what goes in.
	matrix := func(name string, from, to uint64) gguf.Tensor {
		v := make([]float32, from*to)
		for i := range v {
			v[i] = float32(random.NormFloat64() / math.Sqrt(float64(from)))
		}
		return gguf.Tensor{Name: name + ".weight", Shape: []uint64{from, to}, Type: matrices, Values: v}
	}
	norm := func(name string) gguf.Tensor {
		v := make([]float32, modelWidth)
		for i := range v {
			v[i] = float32(1 + random.NormFloat64()/4)
		}
		return gguf.Tensor{Name: name + ".weight", Shape: []uint64{modelWidth}, Type: gguf.F32, Values: v}
	}
	// The logits are spread, so that the first token and the second are not nearly the same; and only letters are ever the largest, as bytes
	// are no text until a character is complete.
	output := matrix("output", modelWidth, modelVocabulary)
	for i := range output.Values {
		if i < (modelFirst+modelBytes)*modelWidth {
			output.Values[i] = 0
		} else {
			output.Values[i] *= 4
		}
	}
	all := []gguf.Tensor{matrix("token_embd", modelWidth, modelVocabulary), norm("output_norm"), output}
	for l := range modelLayers {
		at := fmt.Sprintf("blk.%d.", l)
		all = append(all,
			norm(at+"attn_norm"),
			matrix(at+"attn_q", modelWidth, modelWidth),
			matrix(at+"attn_k", modelWidth, modelKVHeads*modelHead),
			matrix(at+"attn_v", modelWidth, modelKVHeads*modelHead),
			matrix(at+"attn_output", modelWidth, modelWidth),
			norm(at+"ffn_norm"),
			matrix(at+"ffn_gate", modelWidth, modelInner),
			matrix(at+"ffn_up", modelWidth, modelInner),
			matrix(at+"ffn_down", modelInner, modelWidth))
	}
	return all
}
