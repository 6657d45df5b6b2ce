// A pointer to a variable that nobody defines, and one to a variable that
// nobody needs to define.
.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
.data
.globl pointers
.type pointers,@object
.size pointers, 16
.p2align 3
.weak maybe
pointers:
  .quad maybe
  .quad missing
