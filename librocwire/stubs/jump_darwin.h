/* jump.h for macOS: names begin with an underscore, what a library exports is said to
 * the linker by a list, and a conditional jump goes to a label of the assembler's. */
	.const
	.private_extern _rw_table_name
_rw_table_name:
	.asciz NAME(TABLE)

	.text
#if defined(__x86_64__)
.macro JUMP bind, name, slot
	.globl _\name
	.p2align 4
_\name:
	.cfi_startproc
	movq _rw_table(%rip), %r11
	testq %r11, %r11
	je 1f
	jmp *(8 * \slot)(%r11)
1:	movl $(8 * \slot), %r11d
	jmp Lopen_and_jump
	.cfi_endproc
.endm

.macro NEXT name, slot
	.private_extern _rw_next_\name
	.p2align 4
_rw_next_\name:
	.cfi_startproc
	movq _rw_opened(%rip), %r11
	jmp *(8 * \slot)(%r11)
	.cfi_endproc
.endm

	.p2align 4
open_and_jump:
Lopen_and_jump:
	.cfi_startproc
	pushq %rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq %rsp, %rbp
	.cfi_def_cfa_register %rbp
	andq $-16, %rsp
	subq $192, %rsp
	movq %rdi, (%rsp)
	movq %rsi, 8(%rsp)
	movq %rdx, 16(%rsp)
	movq %rcx, 24(%rsp)
	movq %r8, 32(%rsp)
	movq %r9, 40(%rsp)
	movq %rax, 48(%rsp)
	movq %r11, 56(%rsp)
	movaps %xmm0, 64(%rsp)
	movaps %xmm1, 80(%rsp)
	movaps %xmm2, 96(%rsp)
	movaps %xmm3, 112(%rsp)
	movaps %xmm4, 128(%rsp)
	movaps %xmm5, 144(%rsp)
	movaps %xmm6, 160(%rsp)
	movaps %xmm7, 176(%rsp)
	callq _rw_open
	movq 56(%rsp), %r11
	addq %rax, %r11
	movq (%rsp), %rdi
	movq 8(%rsp), %rsi
	movq 16(%rsp), %rdx
	movq 24(%rsp), %rcx
	movq 32(%rsp), %r8
	movq 40(%rsp), %r9
	movq 48(%rsp), %rax
	movaps 64(%rsp), %xmm0
	movaps 80(%rsp), %xmm1
	movaps 96(%rsp), %xmm2
	movaps 112(%rsp), %xmm3
	movaps 128(%rsp), %xmm4
	movaps 144(%rsp), %xmm5
	movaps 160(%rsp), %xmm6
	movaps 176(%rsp), %xmm7
	leave
	.cfi_def_cfa %rsp, 8
	jmp *(%r11)
	.cfi_endproc
#elif defined(__aarch64__)
.macro JUMP bind, name, slot
	.globl _\name
	.p2align 4
_\name:
	.cfi_startproc
	hint #34
	adrp x16, _rw_table@PAGE
	ldr x16, [x16, _rw_table@PAGEOFF]
	mov x17, #(8 * \slot)
	cbz x16, Lopen_and_jump
	ldr x16, [x16, x17]
	br x16
	.cfi_endproc
.endm

.macro NEXT name, slot
	.private_extern _rw_next_\name
	.p2align 4
_rw_next_\name:
	.cfi_startproc
	hint #34
	adrp x16, _rw_opened@PAGE
	ldr x16, [x16, _rw_opened@PAGEOFF]
	ldr x16, [x16, #(8 * \slot)]
	br x16
	.cfi_endproc
.endm

	.p2align 4
open_and_jump:
Lopen_and_jump:
	.cfi_startproc
	stp x29, x30, [sp, #-224]!
	.cfi_def_cfa_offset 224
	.cfi_offset 29, -224
	.cfi_offset 30, -216
	stp x0, x1, [sp, #16]
	stp x2, x3, [sp, #32]
	stp x4, x5, [sp, #48]
	stp x6, x7, [sp, #64]
	stp x8, x17, [sp, #80]
	stp q0, q1, [sp, #96]
	stp q2, q3, [sp, #128]
	stp q4, q5, [sp, #160]
	stp q6, q7, [sp, #192]
	bl _rw_open
	ldp x8, x17, [sp, #80]
	ldr x16, [x0, x17]
	ldp x0, x1, [sp, #16]
	ldp x2, x3, [sp, #32]
	ldp x4, x5, [sp, #48]
	ldp x6, x7, [sp, #64]
	ldp q0, q1, [sp, #96]
	ldp q2, q3, [sp, #128]
	ldp q4, q5, [sp, #160]
	ldp q6, q7, [sp, #192]
	ldp x29, x30, [sp], #224
	.cfi_restore 29
	.cfi_restore 30
	.cfi_def_cfa_offset 0
	br x16
	.cfi_endproc
#else
#error "no jumps for this processor"
#endif
