// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Probes on functions of HIP libraries: at entry what is needed of the arguments is
 * noted, at return the call is counted.
 *
 * One call of a thread is followed at a time, the outermost: what the library calls
 * of itself belongs to that call and is not counted again. Whether the call that is
 * noted is still under way is read off the stack. It grows downwards, so a call from
 * the same place or from above means that the old one was left (by longjmp, or by an
 * exception); and below it, the noted call's return address must still be replaced by
 * the kernel's trampoline, which begins a page.
 *
 * Nothing is kept of a thread that ended, and of a program that was replaced.
 */
#include "calls.h"

/* The kernel lets only programs under its own licence, or such a double one, read a
 * program's memory (read_user). The files are offered under either. */
char licence[] SEC("license") = "Dual MIT/GPL";

#define HIGHEST_CODE 4095 /* results beyond, and negative ones, are counted as -1 */

/* process finds or makes the program's entry. */
INLINE struct process *process_of(u32 tgid)
{
	struct process *p = map_lookup(&processes, &tgid), n = {};
	struct totals *t;
	u32 zero = 0, *next;
	void *empty;

	if (p)
		return p;
	next = map_lookup(&next_id, &zero);
	empty = map_lookup(&no_totals, &zero);
	if (!next || !empty)
		return 0;
	n.id = ADD(*next, 1);
	if (map_update(&totals_of, &n.id, empty, UPDATE_NOEXIST)) {
		drop(DROP_PROCESS);
		return 0;
	}
	t = map_lookup(&totals_of, &n.id);
	if (!t)
		return 0;
	t->first = ktime_ns();
	t->tgid = tgid;
	current_name(t->name, sizeof(t->name));
	if (map_update(&processes, &tgid, &n, UPDATE_NOEXIST))
		map_delete(&totals_of, &n.id); /* another thread was first, or there is no room */
	p = map_lookup(&processes, &tgid);
	if (!p)
		drop(DROP_PROCESS);
	return p;
}

/* under_way says whether the call that is noted has not ended. */
INLINE int under_way(struct call *c, u64 sp)
{
	u64 slot = 0;

	if (sp > c->sp || read_user(&slot, sizeof(slot), (const void *)c->sp))
		return 0;
	return slot && slot != c->ret && !(slot & 4095);
}

SEC("uprobe.multi/enter")
int enter(struct pt_regs *regs)
{
	u64 cookie = attach_cookie(regs), tid = current_pid_tgid(), sp = regs->sp, ret = 0;
	struct call *c = map_lookup(&threads, &tid);
	struct process *p;

	if (!c) {
		struct call none = {};
		map_update(&threads, &tid, &none, UPDATE_NOEXIST);
		c = map_lookup(&threads, &tid);
		if (!c) {
			drop(DROP_THREAD);
			return 0;
		}
	}
	read_user(&ret, sizeof(ret), (const void *)sp);
	if (c->sp) {
		if (under_way(c, sp))
			return 0;
		if (c->sp == sp && c->ret == ret && c->cookie == cookie) {
			/* The same file is watched under two names, as those of layered file
			 * systems are, and this is the second probe of one call. */
			c->start = ktime_ns();
			return 0;
		}
		drop(DROP_ABANDONED);
		c->sp = 0;
	}
	p = process_of(tid >> 32);
	if (!p)
		return 0;
	c->id = p->id;
	c->epoch = p->epoch;
	c->ret = ret;
	c->cookie = cookie;
	note(regs, c, cookie);
	c->sp = sp;
	c->start = ktime_ns();
	return 0;
}

/* count_failure counts a result other than success. */
INLINE void count_failure(struct call *c, s32 code)
{
	struct failure_key k = {.id = c->id, .op = OP(c->cookie), .code = code};
	u64 *n = map_lookup(&failures, &k), one = 1, *most;
	u32 setting = SET_SERIES;
	struct totals *t;

	if (code < 0 || code > HIGHEST_CODE) {
		k.code = -1;
		n = map_lookup(&failures, &k);
	}
	if (n) {
		ADD(*n, 1);
		return;
	}
	t = map_lookup(&totals_of, &c->id);
	most = map_lookup(&settings, &setting);
	if (!t || !most || t->failures >= *most) {
		drop(DROP_SERIES);
		return;
	}
	if (!map_update(&failures, &k, &one, UPDATE_NOEXIST)) {
		ADD(t->failures, 1);
		return;
	}
	n = map_lookup(&failures, &k); /* another thread was first, or there is no room */
	if (n)
		ADD(*n, 1);
	else
		drop(DROP_SERIES);
}

SEC("uprobe.multi/leave")
int leave(struct pt_regs *regs)
{
	u64 cookie = attach_cookie(regs), tid = current_pid_tgid(), now = ktime_ns(), sp = regs->sp - 8;
	struct call *c = map_lookup(&threads, &tid);
	s32 code = (s32)regs->ax;
	struct series_key k;
	struct process *p;
	struct series *s;
	u32 tgid = tid >> 32, zero = 0;
	u64 i;

	if (!c || !c->sp || sp < c->sp)
		return 0; /* not noted, or of a call within the noted one */
	if (sp > c->sp) {
		drop(DROP_ABANDONED);
		c->sp = 0;
		return 0;
	}
	if (cookie != c->cookie)
		return 0; /* of a function that the noted one ended in */
	c->sp = 0;
	p = map_lookup(&processes, &tgid);
	if (!p || p->id != c->id)
		return 0;
	k.id = c->id;
	k.op = OP(cookie);
	s = map_lookup(&series_of, &k);
	if (!s) {
		void *empty = map_lookup(&no_series, &zero);
		if (empty)
			map_update(&series_of, &k, empty, UPDATE_NOEXIST);
		s = map_lookup(&series_of, &k);
		if (!s) {
			drop(DROP_SERIES);
			return 0;
		}
	}
	now -= c->start;
	i = bucket_of(now);
	if (WITHIN(i, DURATIONS))
		ADD(s->buckets[i], 1);
	ADD(s->nanos, now);
	if (code == 0) {
		ADD(s->success, 1);
		effect(c, p);
		return 0;
	}
	count_failure(c, code);
	if (CLASS(cookie) == FREE && c->c < MEMORIES) { /* it is still there */
		struct totals *t = map_lookup(&totals_of, &c->id);
		i = c->c;
		if (t && WITHIN(i, MEMORIES)) {
			ADD(t->held[i], -c->b); /* which remember adds again */
			remember(c, t, c->a, c->b, i);
		}
	}
	return 0;
}

/* A thread ends, maybe within a call. */
SEC("raw_tracepoint/sched_process_exit")
int thread_exit(void *ctx)
{
	u64 tid = current_pid_tgid();

	map_delete(&threads, &tid);
	return 0;
}

/* A process executes another program; the thread that does so takes the number of the
 * process's first thread, and args[1] is the one it had. */
SEC("raw_tracepoint/sched_process_exec")
int process_exec(struct tracepoint *ctx)
{
	u64 tid = current_pid_tgid(), old = (tid & ~0xffffffffULL) | (u32)ctx->args[1];
	u32 tgid = tid >> 32;

	map_delete(&threads, &tid);
	map_delete(&threads, &old);
	map_delete(&processes, &tgid);
	ringbuf_output(&execs, &tgid, sizeof(tgid), 0);
	return 0;
}
