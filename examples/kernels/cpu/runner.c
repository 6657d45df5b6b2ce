// runner runs kernels on the CPU: the reference for what a device computes.
//
// It reads requests from standard input and answers each on standard output,
// until the input ends. All numbers are little-endian u32 unless said:
//
//   request: "RWK1", kernel name (length, bytes), grid x y z in workgroups,
//            workgroup x y z in threads, dynamic LDS bytes,
//            number of buffers, each: length, bytes
//            number of variables to set, each: name, length, bytes
//            argument segment: length, bytes
//            number of pointers in it, each: offset, buffer, offset in buffer
//            number of variables to read back, each: name
//   answer:  the bytes of every buffer, then of every variable read back
//
// A request that makes no sense ends the program with a message and status 2.
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
#include "../kernel.h"

#define MAX_THREADS 1024
#define STACK       (256 * 1024)

static void die(const char *format, ...) {
    va_list args;
    va_start(args, format);
    fputs("runner: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    exit(2);
}

// ---- threads of a workgroup: coroutines on one CPU thread ----

enum state { READY, DONE, AT_BARRIER, AT_MEETING };

struct coroutine {
    struct rw_thread thread;
    enum state state;
    enum rw_op op;
    u32 value, lane;
    int line;
    u64 result;
    ucontext_t context;
};

struct rw_thread *rw_self;
struct rw_dim rw_block_idx, rw_block_dim, rw_grid_dim;
unsigned char *rw_dynamic_shared;

static struct coroutine threads[MAX_THREADS];
static struct coroutine *current;
static ucontext_t scheduler;
static char *stacks;
static struct rw_entry *kernel;
static const void *kernel_args;

static void thread_main(void) {
    kernel->call(kernel_args);
    current->state = DONE;
    for (;;)
        swapcontext(&current->context, &scheduler);
}

static void wait_in(enum state s) {
    struct coroutine *me = current;
    me->state = s;
    swapcontext(&me->context, &scheduler);
}

void rw_barrier(void) { wait_in(AT_BARRIER); }

u64 rw_meet(enum rw_op op, u32 value, u32 lane, int line) {
    struct coroutine *me = current;
    me->op = op;
    me->value = value;
    me->lane = lane;
    me->line = line;
    wait_in(AT_MEETING);
    return me->result;
}

// hold_meeting lets the threads of a wave that wait at its lowest line meet.
static int hold_meeting(struct coroutine *wave, u32 size) {
    int line = 0;
    for (u32 i = 0; i < size; i++)
        if (wave[i].state == AT_MEETING && (line == 0 || wave[i].line < line))
            line = wave[i].line;
    if (line == 0)
        return 0;
    u64 active = 0, votes = 0;
    u32 first = LANES;
    struct coroutine *c = NULL;
    for (u32 i = 0; i < size; i++) {
        if (wave[i].state != AT_MEETING || wave[i].line != line)
            continue;
        c = &wave[i];
        active |= 1ull << i;
        votes |= (u64)(c->value & 1) << i;
        if (first == LANES)
            first = i;
        c->result = 0;
    }
    for (u32 i = 0; i < size; i++) {
        if (!(active >> i & 1))
            continue;
        c = &wave[i];
        u32 from = c->lane % LANES;
        int there = active >> from & 1;
        switch (c->op) {
        case RW_BALLOT: c->result = votes; break;
        case RW_FIRST:  c->result = wave[first].value; break;
        case RW_GATHER: c->result = there ? wave[from].value : 0; break;
        case RW_SCATTER:
            if (there)
                wave[from].result = c->value;
            break;
        case RW_READ:
            if (!there)
                die("line %d: lane %u is read and does not take part", line, from);
            c->result = wave[from].value;
            break;
        }
        c->state = READY;
    }
    return 1;
}

static void run_workgroup(u32 size) {
    for (u32 i = 0; i < size; i++) {
        struct coroutine *c = &threads[i];
        u32 x = rw_block_dim.x, y = rw_block_dim.y;
        c->thread.index = (struct rw_dim){i % x, i / x % y, i / x / y};
        c->thread.lane = i % LANES;
        c->state = READY;
        getcontext(&c->context);
        c->context.uc_stack.ss_sp = stacks + (size_t)i * STACK;
        c->context.uc_stack.ss_size = STACK;
        c->context.uc_link = NULL;
        makecontext(&c->context, thread_main, 0);
    }
    for (;;) {
        u32 waiting = 0, met = 0;
        for (u32 i = 0; i < size; i++) {
            current = &threads[i];
            rw_self = &current->thread;
            if (current->state == READY)
                swapcontext(&scheduler, &current->context);
            waiting += current->state != DONE;
        }
        if (waiting == 0)
            return;
        for (u32 i = 0; i < size; i += LANES)
            met += hold_meeting(&threads[i], size - i < LANES ? size - i : LANES);
        if (met)
            continue;
        for (u32 i = 0; i < size; i++)
            if (threads[i].state == AT_BARRIER)
                threads[i].state = READY;
    }
}

// ---- tables ----

static struct rw_entry *entries;
static struct rw_variable *variables;

void rw_add_entry(struct rw_entry *e) {
    e->next = entries;
    entries = e;
}

void rw_add_variable(struct rw_variable *v) {
    v->next = variables;
    variables = v;
}

static struct rw_variable *find_variable(const char *name) {
    for (struct rw_variable *v = variables; v; v = v->next)
        if (strcmp(v->name, name) == 0)
            return v;
    die("no variable %s", name);
    return NULL;
}

// ---- requests ----

static void *allocate(size_t n) {
    void *p = NULL;
    if (posix_memalign(&p, 256, n ? n : 1))
        die("out of memory (%zu bytes)", n);
    return p;
}

static void get(void *p, size_t n) {
    if (n && fread(p, 1, n, stdin) != n)
        die("the request is cut off");
}

static u32 get_u32(void) {
    u32 v;
    get(&v, 4);
    return v;
}

static char *get_name(void) {
    static char name[4096];
    u32 n = get_u32();
    if (n >= sizeof name)
        die("name of %u bytes", n);
    get(name, n);
    name[n] = 0;
    return name;
}

static struct rw_dim get_dim(void) {
    struct rw_dim d;
    get(&d, sizeof d);
    if (d.x == 0 || d.y == 0 || d.z == 0)
        die("empty grid or workgroup");
    return d;
}

static void serve(void) {
    char *name = get_name();
    for (kernel = entries; kernel && strcmp(kernel->name, name) != 0;)
        kernel = kernel->next;
    if (!kernel)
        die("no kernel %s", name);
    rw_grid_dim = get_dim();
    rw_block_dim = get_dim();
    u64 size = (u64)rw_block_dim.x * rw_block_dim.y * rw_block_dim.z;
    if (size > MAX_THREADS)
        die("workgroup of %llu threads", size);
    u32 shared = get_u32();
    rw_dynamic_shared = allocate(shared);

    u32 buffer_count = get_u32();
    struct { u32 size; unsigned char *data; } *buffers = allocate(buffer_count * sizeof *buffers);
    for (u32 i = 0; i < buffer_count; i++) {
        buffers[i].size = get_u32();
        buffers[i].data = allocate(buffers[i].size);
        get(buffers[i].data, buffers[i].size);
    }
    for (u32 n = get_u32(); n > 0; n--) {
        struct rw_variable *v = find_variable(get_name());
        u32 bytes = get_u32();
        if (bytes > v->size)
            die("%u bytes for variable %s of %zu", bytes, v->name, v->size);
        get(v->address, bytes);
    }
    u32 args_size = get_u32();
    unsigned char *args = allocate(args_size + 256);
    memset(args, 0, args_size + 256);
    get(args, args_size);
    for (u32 n = get_u32(); n > 0; n--) {
        u32 at = get_u32(), buffer = get_u32(), offset = get_u32();
        if (buffer >= buffer_count || at > args_size || args_size - at < 8)
            die("pointer at %u to buffer %u", at, buffer);
        void *p = buffers[buffer].data + offset;
        memcpy(args + at, &p, sizeof p);
    }
    kernel_args = args;

    for (u32 z = 0; z < rw_grid_dim.z; z++)
        for (u32 y = 0; y < rw_grid_dim.y; y++)
            for (u32 x = 0; x < rw_grid_dim.x; x++) {
                rw_block_idx = (struct rw_dim){x, y, z};
                run_workgroup((u32)size);
            }

    for (u32 i = 0; i < buffer_count; i++) {
        fwrite(buffers[i].data, 1, buffers[i].size, stdout);
        free(buffers[i].data);
    }
    for (u32 n = get_u32(); n > 0; n--) {
        struct rw_variable *v = find_variable(get_name());
        fwrite(v->address, 1, v->size, stdout);
    }
    fflush(stdout);
    free(buffers);
    free(args);
    free(rw_dynamic_shared);
}

int main(void) {
    stacks = mmap(NULL, (size_t)MAX_THREADS * STACK, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (stacks == MAP_FAILED)
        die("no memory for stacks");
    char magic[4];
    while (fread(magic, 1, 4, stdin) == 4) {
        if (memcmp(magic, "RWK1", 4) != 0)
            die("not a request");
        serve();
    }
    return 0;
}
