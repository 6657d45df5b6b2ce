package smi

// Firmware is one piece of software that runs on the card itself.
type Firmware struct {
	Name    string `json:"name" msgpack:"n"`    // as the vendor's tools name it, lower case: "smu", "cp_mec1", "psp_sosdrv"
	Version string `json:"version" msgpack:"v"` // as the vendor's tools show it
	// Number is the version as the card tells it.
	Number Opt[uint64] `json:"number" msgpack:"i,omitempty"`
}
