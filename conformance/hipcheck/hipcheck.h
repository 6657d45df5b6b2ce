/* What a group of cases says, and how. A case is one call, or one thing looked at, with a name that no other case has. */
#ifndef HIPCHECK_H
#define HIPCHECK_H
#include "hip/hip_runtime_api.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A group runs in a process of its own. If a case ends that process, the group begins again in another one without that case; the cases of
 * an independent group do not need each other, so that those which have answered are left out as well. */
struct group {
	const char *name;
	void (*run)(void);
	int independent;
	int function; /* of the table, for run_function */
};

/* begin starts a case; it is false if the case is to be left out. What a process does between begin and answer is the case's. */
int begin(const char *format, ...) __attribute__((format(printf, 1, 2)));
void answer(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* answered says the name of a code. */
hipError_t answered(hipError_t code);

/* IS is a case of one call that answers with a code, whose name is given; SAW is a case of values that were seen. */
#define IS(call, ...) (begin(__VA_ARGS__) ? answered(call) : hipErrorUnknown)
#define SAW(name, ...) do { if (begin("%s", name)) answer(__VA_ARGS__); } while (0)

/* must ends the group if what it needs cannot be had; that is a case as well. */
#define MUST(call) do { hipError_t must_ = (call); if (must_ != hipSuccess && begin("needs %s", #call)) { answer("%s", hipGetErrorName(must_)); exit(0); } } while (0)

/* module loads a file of HIPCHECK_KERNELS. */
hipModule_t module(const char *name);
hipFunction_t kernel(const char *name, const char *function);

/* A gate holds a stream up until it is opened: by a host function. */
struct gate { volatile int open; };
void hold(hipStream_t stream, struct gate *gate);

extern const struct group behaviours[];
extern int table_functions(void);
extern const char *table_function(int i);
extern void run_function(int i);
#endif
