/* jump.h for Windows: its names for sections, its calling convention. An export is
 * one because it says so to the linker. */
	.section .rdata, "dr"
	.globl rw_table_name
rw_table_name:
	.asciz NAME(TABLE)
	.text

.macro EXPORT name
	.section .drectve, "yn"
	.ascii " -export:\name"
	.text
.endm

.macro JUMP bind, name, slot
	EXPORT \name
	.globl \name
	.def \name
	.scl 2
	.type 32
	.endef
	.p2align 4
\name:
	movq rw_table(%rip), %r11
	testq %r11, %r11
	je 1f
	jmp *(8 * \slot)(%r11)
1:	movl $(8 * \slot), %r11d
	jmp open_and_jump
.endm

.macro NEXT name, slot
	EXPORT \name
	.globl rw_next_\name
	.p2align 4
rw_next_\name:
	movq rw_opened(%rip), %r11
	jmp *(8 * \slot)(%r11)
.endm

	.p2align 4
	.def open_and_jump
	.scl 3
	.type 32
	.endef
	.seh_proc open_and_jump
open_and_jump:
	movq %rcx, 8(%rsp) /* where the caller has left room for them */
	movq %rdx, 16(%rsp)
	movq %r8, 24(%rsp)
	movq %r9, 32(%rsp)
	subq $120, %rsp
	.seh_stackalloc 120
	.seh_endprologue
	movaps %xmm0, 32(%rsp)
	movaps %xmm1, 48(%rsp)
	movaps %xmm2, 64(%rsp)
	movaps %xmm3, 80(%rsp)
	movq %r11, 96(%rsp)
	call rw_open
	movq 96(%rsp), %r11
	addq %rax, %r11
	movaps 32(%rsp), %xmm0
	movaps 48(%rsp), %xmm1
	movaps 64(%rsp), %xmm2
	movaps 80(%rsp), %xmm3
	addq $120, %rsp
	movq 8(%rsp), %rcx
	movq 16(%rsp), %rdx
	movq 24(%rsp), %r8
	movq 32(%rsp), %r9
	jmp *(%r11)
	.seh_endproc
