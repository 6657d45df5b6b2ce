// The relocations that a linker leaves in a code object: pointers in data to a
// variable of this object (RELATIVE64) and to one that another object could
// replace (ABS64), and code that finds the latter through the offset table.
.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
.text
.globl reader
.type reader,@function
.p2align 8
reader:
  s_getpc_b64 s[0:1]
  s_add_u32 s0, s0, target@gotpcrel32@lo+4
  s_addc_u32 s1, s1, target@gotpcrel32@hi+12
  s_load_dwordx2 s[0:1], s[0:1], 0x0
  s_getpc_b64 s[2:3]
  s_add_u32 s2, s2, local@rel32@lo+4
  s_addc_u32 s3, s3, local@rel32@hi+12
  s_endpgm
.Lend:
.size reader, .Lend - reader

.data
.globl target
.type target,@object
.size target, 8
.p2align 3
target:
  .quad 0x1122334455667788
.globl places
.type places,@object
.size places, 24
places:
  .quad target+16
  .quad local+8
local:
  .quad 5
