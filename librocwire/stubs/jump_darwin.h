/* jump_unix.h in Mach-O's spelling: names begin with an underscore, what a library
 * exports is said to the linker by a list, and a conditional jump goes to a label of the
 * assembler's. */
#define C(name) _##name
#define LOCAL(name) L##name
#define PAGE(name) name@PAGE
#define OFFSET(name) name@PAGEOFF

	.const
	.private_extern _rw_table_name
_rw_table_name:
	.asciz NAME(TABLE)

	.text

.macro EXPORT bind, name
	.globl _\name
.endm

.macro HIDDEN name
	.private_extern _\name
.endm

.macro FUNCTION name
	.p2align 4
_\name:
	.cfi_startproc
.endm

.macro END name
	.cfi_endproc
.endm
