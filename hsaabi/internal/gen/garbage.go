package main

import (
	"slices"
	"strconv"
	"strings"
)

// unfrozen are the functions that change an executable: what they are called with is not frozen yet.
func unfrozen(name string) bool {
	return strings.HasSuffix(name, "_define") || strings.HasPrefix(name, "hsa_executable_load_") || name == "hsa_executable_freeze"
}

// object is the member of the test's objects for a type of handle: hsa_amd_memory_pool_t is amd_memory_pool.
func object(c string) string { return strings.TrimSuffix(strings.TrimPrefix(c, "hsa_"), "_t") }

// garbageOf is the letter that says which values a parameter is tried with (librocwire/testdata/hsa_garbage.h), and the value in C.
func (t *Table) garbageOf(f *Function, p Pair, k string) (letter byte, value string) {
	v := "v[" + k + "]"
	status := f.Returns == "hsa_status_t"
	switch base, g := t.scalar(p.C); {
	case strings.Contains(p.C, "(*") || strings.HasSuffix(p.C, "_callback_t") || p.C == "hsa_amd_signal_handler":
		return 'c', "calls(" + v + ")"
	case strings.HasSuffix(p.C, "hsa_queue_t *") && status:
		return 'q', "queue_of(" + v + ")"
	case strings.HasSuffix(p.C, "hsa_queue_t *"): // in front of their pointers there is nothing that could look
		return 'x', "queue_of(" + v + ")"
	case p.C == "const char *":
		return 't', "text(" + v + ", \"" + p.Name + "\")"
	case strings.HasSuffix(p.C, "void *") && slices.Contains([]string{"dst", "src", "ptr", "dst_memory", "src_memory", "image_data"}, p.Name):
		return 'a', "address(" + v + ")"
	case (p.Name == "va" || p.Name == "addr") && !strings.HasSuffix(p.C, "**"):
		return 'a', "reserved(" + v + ")"
	case p.Name == "host_ptr":
		return 'a', "own(" + v + ")"
	case strings.HasSuffix(p.C, "void *") && (p.Name == "code_object" || p.Name == "serialized_code_object"):
		return 'm', "file_at(" + v + ")"
	case t.structs[p.C].handle():
		o := object(p.C)
		if o == "executable" && unfrozen(f.Name) {
			o = "unfrozen"
		}
		letter = 'h'
		if o == "callback_data" || o == "signal" && (strings.Contains(p.Name, "completion") || strings.Contains(p.Name, "data")) || !status {
			letter = 'o' // there need be none, or nobody is told
		}
		return letter, "(" + p.C + "){handle(" + v + ", live." + o + ".handle, stale." + o + ".handle)}"
	case p.pointer():
		return 'b', "buffer(" + k + ", " + v + ", \"" + strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(p.C, "const "), "*")) + "\")"
	case p.C == "hsa_file_t" || p.C == "int" && (strings.Contains(p.Name, "dmabuf") || p.Name == "interop_handle"):
		return 'f', "descriptor(" + v + ")"
	case p.Name == "timeout_hint":
		return 'w', "patience(" + v + ")"
	case strings.HasPrefix(p.Name, "num_") && p.Name != "num_cu_mask_count" || strings.HasSuffix(p.Name, "_count") && p.Name != "num_cu_mask_count" || p.Name == "desc_cnt":
		return 'n', "count(" + v + ")"
	case p.Name == "serialized_code_object_size" || f.Name == "hsa_code_object_reader_create_from_memory" && p.Name == "size":
		return 'z', "size_of_file(" + v + ")"
	case base == "size_t":
		return 'z', "size(" + v + ")"
	case g != "":
		return 'i', "(" + p.C + ")integer(" + v + ")"
	}
	return 'd', "*(" + p.C + " *)buffer(" + k + ", " + v + " ? 2 : 0, \"\")" // a struct by value
}

// garbageC is, for librocwire's test, a call of each function with the values of its parameters that numbers choose.
func garbageC(t *Table) string {
	o := &out{}
	o.p(bannerC + "#include \"hsa_garbage.h\"\n")
	var rows []string
	for i := range t.Functions {
		f := &t.Functions[i]
		var letters, needed []byte
		var args []string
		for k, p := range f.Params {
			letter, value := t.garbageOf(f, p, strconv.Itoa(k))
			letters, args = append(letters, letter), append(args, value)
			if p.pointer() && !p.Opt {
				needed = append(needed, '!')
			} else {
				needed = append(needed, '.')
			}
		}
		call := f.Name + "(" + strings.Join(args, ", ") + ")"
		o.p("static long run_%s(const int *v)\n{\n\t(void)v;", f.Name)
		if f.Returns == "hsa_status_t" {
			o.p("\treturn (long)%s;\n}\n", call)
		} else {
			o.p("\t(void)%s;\n\treturn NO_STATUS;\n}\n", call)
		}
		kind := "WORKS"
		if f.Returns == "hsa_status_t" && !t.inC[f.Name] && !t.inGo[goFunc(f.Name)] {
			kind = "REFUSED"
		}
		if early[f.Name] {
			kind = "EARLY"
		}
		rows = append(rows, "\t{\""+f.Name+"\", \""+string(letters)+"\", \""+string(needed)+"\", "+kind+", run_"+f.Name+"},")
	}
	o.p("const struct function functions[] = {\n%s\n\t{0, 0, 0, 0, 0},\n};", strings.Join(rows, "\n"))
	return o.String()
}
