package workerlist

import (
	"fmt"
	"testing"
)

func TestSplit(t *testing.T) {
	for list, want := range map[string]string{
		"gpu": "[gpu:7]", "gpu:18515": "[gpu:18515]", "a:1,b:2": "[a:1 b:2]", "a, b:2 ,a": "[a:7 b:2 a:7]", "::1": "[[::1]:7]", "[::1]": "[[::1]:7]",
		"[fe80::1%eth0]:9,b": "[[fe80::1%eth0]:9 b:7]", "10.0.0.1:80": "[10.0.0.1:80]", "rocwire://gpu:9,rocwire://[::1]:8/, rocwire://a": "[gpu:9 [::1]:8 a:7]", "rocwire://": "", "rocwire://a/b": "", "http://a": "",
		"unix:/run/w.sock": "[unix:/run/w.sock]", "a,unix:s": "[a:7 unix:s]", "unix:": "",
		"": "", "a,": "", ",a": "", "a:0": "", "a:70000": "", "a:x": "", "[::1]:": "", "[::1": "", "a b": "", "[]:1": "", "/x": "",
	} {
		got, err := Split(list, "7")
		if s := fmt.Sprint(got); err != nil && want != "" || err == nil && s != want {
			t.Errorf("%q: %s, %v; want %q", list, s, err, want)
		}
	}
	if _, err := Split("a", "0"); err == nil {
		t.Error("port 0")
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"a", "a:1", "[::1]:2", "::1", "[", ":", "a:b:c", "unix:/x", "rocwire://a:1/"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		a, err := Parse(s, "1")
		if err != nil {
			return
		}
		if b, err := Parse(a.String(), "2"); err != nil || a != b {
			t.Errorf("%q is %v, which is %v, %v", s, a, b, err)
		}
	})
}
