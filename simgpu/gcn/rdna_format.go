package gcn

import (
	"slices"
	"strconv"
	"strings"
)

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

// imageFormatNames are those that only images have, behind bufferFormatNames.
var imageFormatNames = [...]string{
	"8_SRGB", "8_8_SRGB", "8_8_8_8_SRGB", "5_9_9_9_FLOAT", "5_6_5_UNORM", "1_5_5_5_UNORM", "5_5_5_1_UNORM", "4_4_4_4_UNORM",
}

// format is the data format and the number format of a format of RDNA, which has one number for both: 0 for none.
type format struct{ data, number uint8 }

// formats are by RDNA's number, in the numbers of CDNA's images, with which those of its typed buffers begin.
var formats = func() (all [len(bufferFormatNames) + len(imageFormatNames)]format) {
	data, number := map[string]uint8{"5_6_5": 16, "1_5_5_5": 17, "5_5_5_1": 18, "4_4_4_4": 19}, map[string]uint8{"SRGB": 9}
	for i, name := range dfmtNames {
		data[strings.TrimPrefix(name, "BUF_DATA_FORMAT_")] = uint8(i)
	}
	for i, name := range nfmtNames {
		number[strings.TrimPrefix(name, "BUF_NUM_FORMAT_")] = uint8(i)
	}
	for i, name := range slices.Concat(bufferFormatNames[:], imageFormatNames[:]) {
		if i == 0 {
			continue
		}
		at := strings.LastIndexByte(name, '_')
		all[i] = format{data[name[:at]], number[name[at+1:]]}
	}
	return all
}()

// Format is the data format and the number format of a format of RDNA, as CDNA's images number these: to 63 of typed buffers and images, from there on of
// images. The data format is 0 for what is none.
func Format(f uint8) (data, number uint8) {
	if int(f) >= len(formats) {
		return 0, 0
	}
	return formats[f].data, formats[f].number
}

// FormatOf is RDNA's number for a data format with a number format; 0 if it has none.
func FormatOf(data, number uint8) uint8 {
	if data == 0 {
		return 0
	}
	return uint8(max(slices.Index(formats[:], format{data, number}), 0))
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
