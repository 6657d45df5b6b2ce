/* jump.h for the processors of Linux and macOS. The object formats differ in the spelling. */
#if defined(__x86_64__)
.macro JUMP bind, name, slot
	EXPORT \bind, \name
	FUNCTION \name
	endbr64
	movq C(rw_table)(%rip), %r11
	testq %r11, %r11
	je 1f
	jmp *(8 * \slot)(%r11)
1:	movl $(8 * \slot), %r11d
	jmp LOCAL(open_and_jump)
	END \name
.endm

.macro NEXT name, slot
	HIDDEN rw_next_\name
	FUNCTION rw_next_\name
	endbr64
	movq C(rw_opened)(%rip), %r11
	jmp *(8 * \slot)(%r11)
	END rw_next_\name
.endm

	FUNCTION open_and_jump
LOCAL(open_and_jump):
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
	call C(rw_open)
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
	END open_and_jump
#elif defined(__aarch64__)
.macro JUMP bind, name, slot
	EXPORT \bind, \name
	FUNCTION \name
	hint #34 /* bti c */
	adrp x16, PAGE(C(rw_table))
	ldr x16, [x16, OFFSET(C(rw_table))]
	mov x17, #(8 * \slot)
	cbz x16, LOCAL(open_and_jump)
	ldr x16, [x16, x17]
	br x16
	END \name
.endm

.macro NEXT name, slot
	HIDDEN rw_next_\name
	FUNCTION rw_next_\name
	hint #34 /* bti c */
	adrp x16, PAGE(C(rw_opened))
	ldr x16, [x16, OFFSET(C(rw_opened))]
	ldr x16, [x16, #(8 * \slot)]
	br x16
	END rw_next_\name
.endm

	FUNCTION open_and_jump
LOCAL(open_and_jump):
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
	bl C(rw_open)
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
	END open_and_jump
#else
#error "no jumps for this processor"
#endif
