package gcn

import "strconv"

// bufferFormatNames are the formats of typed buffers on RDNA, which have one number: bits of each component, and what
// they are.
var bufferFormatNames = [64]string{
	"INVALID", "8_UNORM", "8_SNORM", "8_USCALED", "8_SSCALED", "8_UINT", "8_SINT", "16_UNORM", "16_SNORM", "16_USCALED",
	"16_SSCALED", "16_UINT", "16_SINT", "16_FLOAT", "8_8_UNORM", "8_8_SNORM", "8_8_USCALED", "8_8_SSCALED", "8_8_UINT", "8_8_SINT",
	"32_UINT", "32_SINT", "32_FLOAT", "16_16_UNORM", "16_16_SNORM", "16_16_USCALED", "16_16_SSCALED", "16_16_UINT", "16_16_SINT",
	"16_16_FLOAT", "10_11_11_FLOAT", "11_11_10_FLOAT", "10_10_10_2_UNORM", "10_10_10_2_SNORM", "10_10_10_2_UINT", "10_10_10_2_SINT",
	"2_10_10_10_UNORM", "2_10_10_10_SNORM", "2_10_10_10_USCALED", "2_10_10_10_SSCALED", "2_10_10_10_UINT", "2_10_10_10_SINT",
	"8_8_8_8_UNORM", "8_8_8_8_SNORM", "8_8_8_8_USCALED", "8_8_8_8_SSCALED", "8_8_8_8_UINT", "8_8_8_8_SINT", "32_32_UINT",
	"32_32_SINT", "32_32_FLOAT", "16_16_16_16_UNORM", "16_16_16_16_SNORM", "16_16_16_16_USCALED", "16_16_16_16_SSCALED",
	"16_16_16_16_UINT", "16_16_16_16_SINT", "16_16_16_16_FLOAT", "32_32_32_UINT", "32_32_32_SINT", "32_32_32_FLOAT",
	"32_32_32_32_UINT", "32_32_32_32_SINT", "32_32_32_32_FLOAT",
}

// BufferFormat names a format of typed buffers on RDNA, as LLVM does behind BUF_FMT_: bits of each component, and what they are. It is empty for what is none.
func BufferFormat(f uint8) string {
	if f == 0 || int(f) >= len(bufferFormatNames) {
		return ""
	}
	return bufferFormatNames[f]
}

// usualFormat is what is not written: 8_UNORM.
const usualFormat = 1

// appendFormatRDNA writes the format of a typed buffer.
func (in *Inst) appendFormatRDNA(b []byte) []byte {
	switch f := int(in.Format); {
	case f == usualFormat:
		return b
	case f < len(bufferFormatNames):
		return append(append(append(b, " format:[BUF_FMT_"...), bufferFormatNames[f]...), ']')
	default:
		return strconv.AppendInt(append(b, " format:"...), int64(f), 10)
	}
}
