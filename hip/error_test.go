package hip

import "testing"

// Programs print these, and compare them.
func TestErrorText(t *testing.T) {
	for e, want := range map[Error]string{
		Success:                          "no error",
		ErrorAssert:                      "device-side assert triggered",
		ErrorHostMemoryAlreadyRegistered: "part or all of the requested memory range is already mapped",
		ErrorRuntimeOther:                "runtime call other than memory returned error",
		ErrorInvalidTexture:              "unknown error", // AMD's library has no words for it
		Error(12345):                     "unknown error",
	} {
		if got := e.Text(); got != want {
			t.Errorf("%s is %q, not %q", e.Name(), got, want)
		}
	}
}
