/* What the small libraries with a vendor's name consist of. An export continues in
 * the shared object, where slot's entry of TABLE says. Registers and stack stay as
 * the caller left them, so it serves functions of any signature; the registers it
 * needs are free at a function's entry. The first call opens the shared object
 * (lazy.c, lazy_windows.c).
 *
 *   JUMP bind, name, slot   an export
 *   NEXT name, slot         rw_next_name: the same function, for an export that C
 *                           in the small library has; only once it is open */
#define NAME_OF(x) #x
#define NAME(x) NAME_OF(x)

#ifdef _WIN32
#include "jump_windows.h"
#elif defined(__APPLE__)
#include "jump_darwin.h"
#else
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
#if defined(__x86_64__)
.macro JUMP bind, name, slot
	\bind \name
	.type \name, @function
	.p2align 4
\name:
	.cfi_startproc
	endbr64
	movq rw_table(%rip), %r11
	testq %r11, %r11
	je 1f
	jmp *(8 * \slot)(%r11)
1:	movl $(8 * \slot), %r11d
	jmp open_and_jump
	.cfi_endproc
	.size \name, . - \name
.endm

.macro NEXT name, slot
	.globl rw_next_\name
	.hidden rw_next_\name
	.type rw_next_\name, @function
rw_next_\name:
	.cfi_startproc
	endbr64
	movq rw_opened(%rip), %r11
	jmp *(8 * \slot)(%r11)
	.cfi_endproc
	.size rw_next_\name, . - rw_next_\name
.endm

	.type open_and_jump, @function
open_and_jump:
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
	call rw_open
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
	.size open_and_jump, . - open_and_jump
#elif defined(__aarch64__)
.macro JUMP bind, name, slot
	\bind \name
	.type \name, @function
	.p2align 4
\name:
	.cfi_startproc
	hint #34 /* bti c */
	adrp x16, rw_table
	ldr x16, [x16, :lo12:rw_table]
	mov x17, #(8 * \slot)
	cbz x16, open_and_jump
	ldr x16, [x16, x17]
	br x16
	.cfi_endproc
	.size \name, . - \name
.endm

.macro NEXT name, slot
	.globl rw_next_\name
	.hidden rw_next_\name
	.type rw_next_\name, @function
rw_next_\name:
	.cfi_startproc
	hint #34 /* bti c */
	adrp x16, rw_opened
	ldr x16, [x16, :lo12:rw_opened]
	ldr x16, [x16, #(8 * \slot)]
	br x16
	.cfi_endproc
	.size rw_next_\name, . - rw_next_\name
.endm

	.type open_and_jump, @function
open_and_jump:
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
	bl rw_open
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
	.size open_and_jump, . - open_and_jump
#else
#error "no jumps for this processor"
#endif
#endif
