/* jump_unix.h in ELF's spelling. */
#define C(name) name
#define LOCAL(name) .L##name
#define PAGE(name) name
#define OFFSET(name) :lo12:name

	.section .rodata
	.globl rw_table_name
	.hidden rw_table_name
rw_table_name:
	.asciz NAME(TABLE)
	.hidden rw_table
	.hidden rw_opened
	.hidden rw_open

	.section .note.GNU-stack, "", %progbits
	.text

.macro EXPORT bind, name
	\bind \name
.endm

.macro HIDDEN name
	.globl \name
	.hidden \name
.endm

.macro FUNCTION name
	.type \name, @function
	.p2align 4
\name:
	.cfi_startproc
.endm

.macro END name
	.cfi_endproc
	.size \name, . - \name
.endm
