/* JUMP: an export that continues in the shared object, where slot's entry of TABLE
 * says. Registers and stack stay as the caller left them, so it serves functions of
 * any signature; the one register it needs is free at a function's entry. */
#if defined(__x86_64__)
.macro JUMP bind, name, slot
	\bind \name
	.type \name, @function
	.p2align 4
\name:
	.cfi_startproc
	endbr64
	movq TABLE@GOTPCREL(%rip), %r11
	jmp *(8 * \slot)(%r11)
	.cfi_endproc
	.size \name, . - \name
.endm
#elif defined(__aarch64__)
.macro JUMP bind, name, slot
	\bind \name
	.type \name, @function
	.p2align 4
\name:
	.cfi_startproc
	hint #34 /* bti c */
	adrp x16, :got:TABLE
	ldr x16, [x16, :got_lo12:TABLE]
	ldr x16, [x16, #(8 * \slot)]
	br x16
	.cfi_endproc
	.size \name, . - \name
.endm
#else
#error "no jumps for this processor"
#endif

	.section .note.GNU-stack, "", @progbits
	.text
