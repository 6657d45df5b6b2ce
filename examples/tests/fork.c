/* Before a process uses HIP, its children may. Afterwards a fork does not take the
 * GPU with it: the child is told so, may run another program, and disturbs its
 * parent in nothing. */
#include "test.h"

#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	void *p;
	int value = 4711, got = 0, status = 0;
	if (argc > 1) { /* what the child executes: a process of its own */
		CHECK(hipMalloc(&p, 4));
		CHECK(hipFree(p));
		return 0;
	}
	ASSERT(strcmp(hipGetErrorName(hipErrorNoDevice), "hipErrorNoDevice") == 0); /* is no use of HIP */
	for (int i = 0; i < 3; i++) { /* several at once, while the parent has not */
		if (fork() == 0) {
			CHECK(hipMalloc(&p, 4));
			CHECK(hipMemcpy(p, &value, 4, hipMemcpyHostToDevice));
			CHECK(hipMemcpy(&got, p, 4, hipMemcpyDeviceToHost));
			CHECK(hipFree(p));
			exit(got == value ? result("child") : 14); /* with all that happens at a process's end */
		}
	}
	for (int i = 0; i < 3; i++)
		if (wait(&status) < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
			FAIL("a child of a process that has not used HIP: status %#x", status);

	CHECK(hipMalloc(&p, 4));
	CHECK(hipMemcpy(p, &value, 4, hipMemcpyHostToDevice));
	for (int kind = 0; kind < 3; kind++) {
		pid_t child = fork();
		if (child == 0) {
			void *q;
			switch (kind) {
			case 0: /* uses HIP, and ends by exit */
				if (hipMalloc(&q, 4) != hipErrorNotInitialized || hipFree(p) != hipErrorNotInitialized)
					_exit(10);
				if (hipGetLastError() != hipErrorNotInitialized || strcmp(hipGetErrorName(hipSuccess), "hipSuccess"))
					_exit(11);
				if (hipGetStreamDeviceId(NULL) != -1)
					_exit(12);
				exit(0);
			case 1: /* knows nothing of HIP */
				exit(0);
			default:
				execl(argv[0], argv[0], "again", (char *)NULL);
				_exit(13);
			}
		}
		if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
			FAIL("child %d: status %#x", kind, status);
		CHECK(hipMemcpy(&got, p, 4, hipMemcpyDeviceToHost));
		ASSERT(got == value);
	}
	CHECK(hipFree(p));
	return result("fork");
}
