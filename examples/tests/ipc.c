/* Memory, events and pools that several processes have. The program starts
 * itself again for each other process; they talk over sockets, so that it is
 * known who did what before what. */
#include "test.h"

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

EMBED(vector_add);

enum { N = 1 << 16 };
#include "floats.h"

/* tell and hear pass a value to the other process and take one of it. */
#define tell(fd, value) put(fd, &(value), sizeof(value))
#define hear(fd, value) get(fd, &(value), sizeof(value))

static void put(int fd, const void *p, size_t n)
{
	if (write(fd, p, n) != (ssize_t)n)
		FAIL("the other process does not listen");
}

static void get(int fd, void *p, size_t n)
{
	if (recv(fd, p, n, MSG_WAITALL) != (ssize_t)n) {
		FAIL("the other process has ended");
		exit(1);
	}
}

/* go and wait_for are a step that the other waits for. */
static void go(int fd)
{
	char c = 'g';
	tell(fd, c);
}

static void wait_for(int fd)
{
	char c = 0;
	hear(fd, c);
	ASSERT(c == 'g');
}

struct process {
	pid_t pid;
	int fd;
};

static struct process start(char *role)
{
	struct process p = {0, -1};
	int pair[2];
	char number[16];
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
		abort();
	p.pid = fork();
	if (p.pid == 0) {
		close(pair[0]);
		snprintf(number, sizeof number, "%d", pair[1]);
		execl("/proc/self/exe", "ipc", role, number, (char *)NULL);
		_exit(127);
	}
	close(pair[1]);
	p.fd = pair[0];
	return p;
}

static void finished(struct process p)
{
	int status = 0;
	if (waitpid(p.pid, &status, 0) != p.pid || status != 0)
		FAIL("the other process ended with status %#x", (unsigned int)status);
	close(p.fd);
}

/* twice doubles shared memory by a kernel. */
static void twice(void *d, hipStream_t s)
{
	static hipFunction_t add;
	int n = N;
	void *args[] = {&d, &d, &d, &n};
	if (!add)
		add = kernel(IMAGE(vector_add), "vector_add");
	CHECK(hipModuleLaunchKernel(add, N / 256, 1, 1, 256, 1, 1, 0, s, args, NULL));
}

/* importer opens memory that another process has, doubles it, and closes it. */
static void importer(int fd)
{
	hipIpcMemHandle_t h, inner, none;
	char *p = NULL, *again = NULL, *part = NULL;
	float x;
	hear(fd, h);
	hear(fd, inner);
	memset(&none, 0, sizeof none);
	EXPECT(hipIpcOpenMemHandle(NULL, h, hipIpcMemLazyEnablePeerAccess), hipErrorInvalidValue);
	EXPECT(hipIpcOpenMemHandle((void **)&p, h, 0), hipErrorInvalidValue);
	EXPECT(hipIpcOpenMemHandle((void **)&p, h, 77), hipErrorInvalidValue);
	EXPECT(hipIpcOpenMemHandle((void **)&p, none, hipIpcMemLazyEnablePeerAccess), hipErrorInvalidValue);
	none = h; /* a forged one */
	none.reserved[5] ^= 0x11;
	EXPECT(hipIpcOpenMemHandle((void **)&p, none, hipIpcMemLazyEnablePeerAccess), hipErrorInvalidDevicePointer);
	CHECK(hipIpcOpenMemHandle((void **)&p, h, hipIpcMemLazyEnablePeerAccess));
	CHECK(hipIpcOpenMemHandle((void **)&again, h, hipIpcMemLazyEnablePeerAccess));
	ASSERT(again == p);
	for (;;) {
		hear(fd, x);
		if (x == 0)
			break;
		ASSERT(all(p, x));
		twice(p, NULL);
		CHECK(hipDeviceSynchronize());
		go(fd);
	}
	CHECK(hipIpcCloseMemHandle(again));
	CHECK(hipMemcpy(&x, p, 4, hipMemcpyDeviceToHost)); /* opened twice, closed once */
	ASSERT(x != 0);
	CHECK(hipIpcCloseMemHandle(p));
	EXPECT(hipIpcCloseMemHandle(p), hipErrorInvalidValue);
	EXPECT(hipIpcCloseMemHandle(NULL), hipErrorInvalidValue);
	CHECK(hipIpcOpenMemHandle((void **)&part, inner, hipIpcMemLazyEnablePeerAccess)); /* of an address within */
	CHECK(hipMemcpy(&x, part, 4, hipMemcpyDeviceToHost));
	ASSERT(x == 99);
	CHECK(hipIpcCloseMemHandle(part));
}

/* Three processes have one allocation, and each finds what the others wrote. */
static void memory(void)
{
	struct process a = start("importer"), b = start("importer");
	hipIpcMemHandle_t h, inner;
	float x = 1, end = 0, mark = 99;
	char *d, *own = NULL;
	CHECK(hipMalloc((void **)&d, 2 * BYTES));
	fill(d, 1);
	CHECK(hipMemcpy(d + BYTES, &mark, 4, hipMemcpyHostToDevice));
	EXPECT(hipIpcGetMemHandle(NULL, d), hipErrorInvalidValue);
	EXPECT(hipIpcGetMemHandle(&h, NULL), hipErrorInvalidValue);
	CHECK(hipIpcGetMemHandle(&h, d));
	CHECK(hipIpcGetMemHandle(&inner, d + BYTES));
	EXPECT(hipIpcOpenMemHandle((void **)&own, h, hipIpcMemLazyEnablePeerAccess), hipErrorInvalidContext);
	tell(a.fd, h);
	tell(a.fd, inner);
	tell(b.fd, h);
	tell(b.fd, inner);
	for (int i = 0; i < 4; i++) {
		int fd = i % 2 ? b.fd : a.fd;
		tell(fd, x);
		wait_for(fd);
		x *= 2;
		ASSERT(all(d, x));
		twice(d, NULL); /* this process too */
		x *= 2;
		CHECK(hipDeviceSynchronize());
	}
	tell(a.fd, end);
	finished(a);
	ASSERT(all(d, x)); /* an importer that ends takes nothing away */
	tell(b.fd, end);
	finished(b);
	ASSERT(all(d, x));
	CHECK(hipFree(d));
}

/* Small allocations, which lie close together: each handle is one of them, and an address within it. */
enum { PIECES = 24, PIECE = 96 * 4, WITHIN = 12, FREED = 3 /* of those that are large */ };

static const int piece_sizes[] = {PIECE, 4096, 65536 + 4, 3 << 20};

/* gatherer opens pieces in one order and closes them in another. What their process has freed it cannot open, and keeps if it is open. */
static void gatherer(int fd)
{
	hipIpcMemHandle_t h[PIECES], in[PIECES];
	int *p[PIECES], *q[PIECES], v[2], mark;
	void *none = NULL;
	hear(fd, h);
	hear(fd, in);
	for (int k = 0; k < PIECES; k++) {
		int i = k * 7 % PIECES;
		CHECK(hipIpcOpenMemHandle((void **)&p[i], h[i], hipIpcMemLazyEnablePeerAccess));
		CHECK(hipIpcOpenMemHandle((void **)&q[i], in[i], hipIpcMemLazyEnablePeerAccess));
		ASSERT((char *)q[i] == (char *)p[i] + WITHIN); /* one mapping, at the address that the handle is of */
	}
	for (int i = 0; i < PIECES; i++) {
		CHECK(hipMemcpy(v, p[i], 8, hipMemcpyDeviceToHost));
		ASSERT(v[0] == i && v[1] == -i);
		mark = 1000 + i;
		CHECK(hipMemcpy(q[i], &mark, 4, hipMemcpyHostToDevice));
	}
	go(fd);
	wait_for(fd); /* one of them is freed */
	EXPECT(hipIpcOpenMemHandle(&none, h[FREED], hipIpcMemLazyEnablePeerAccess), hipSuccess); /* it is open here */
	ASSERT(none == p[FREED]);
	CHECK(hipIpcCloseMemHandle(none));
	CHECK(hipMemcpy(v, p[FREED], 8, hipMemcpyDeviceToHost));
	ASSERT(v[0] == FREED && v[1] == -FREED);
	for (int k = 0; k < PIECES; k++) {
		int i = k * 5 % PIECES;
		CHECK(hipIpcCloseMemHandle(i % 2 ? p[i] : q[i]));
		CHECK(hipMemcpy(&mark, q[i], 4, hipMemcpyDeviceToHost)); /* the other is open yet */
		ASSERT(mark == 1000 + i);
		CHECK(hipIpcCloseMemHandle(i % 2 ? q[i] : p[i]));
		EXPECT(hipIpcCloseMemHandle(p[i]), hipErrorInvalidValue);
	}
	EXPECT(hipIpcOpenMemHandle(&none, h[FREED], hipIpcMemLazyEnablePeerAccess), hipErrorInvalidDevicePointer);
	EXPECT(hipIpcOpenMemHandle(&none, in[FREED], hipIpcMemLazyEnablePeerAccess), hipErrorInvalidDevicePointer);
	CHECK(hipIpcOpenMemHandle((void **)&p[1], h[1], hipIpcMemLazyEnablePeerAccess)); /* again, after it was closed */
	CHECK(hipMemcpy(v, p[1], 8, hipMemcpyDeviceToHost));
	ASSERT(v[0] == 1 && v[1] == -1);
	CHECK(hipIpcCloseMemHandle(p[1]));
}

static void pieces(void)
{
	struct process a = start("gatherer");
	hipIpcMemHandle_t h[PIECES], in[PIECES];
	int *p[PIECES], mark, v[PIECE / 4];
	for (int i = 0; i < PIECES; i++) {
		CHECK(hipMalloc((void **)&p[i], (size_t)piece_sizes[i % 4]));
		for (int k = 0; k < PIECE / 4; k++)
			v[k] = k % 2 ? -i : i;
		CHECK(hipMemcpy(p[i], v, PIECE, hipMemcpyHostToDevice));
	}
	for (int i = 0; i < PIECES; i++) {
		CHECK(hipIpcGetMemHandle(&h[i], p[i]));
		CHECK(hipIpcGetMemHandle(&in[i], (char *)p[i] + WITHIN));
	}
	tell(a.fd, h);
	tell(a.fd, in);
	wait_for(a.fd);
	for (int i = 0; i < PIECES; i++) {
		CHECK(hipMemcpy(&mark, (char *)p[i] + WITHIN, 4, hipMemcpyDeviceToHost));
		ASSERT(mark == 1000 + i);
		CHECK(hipMemcpy(&mark, (char *)p[i] + WITHIN + 4, 4, hipMemcpyDeviceToHost)); /* nothing beside it */
		ASSERT(mark == i);
	}
	CHECK(hipFree(p[FREED]));
	go(a.fd);
	finished(a);
	for (int i = 0; i < PIECES; i++)
		if (i != FREED)
			CHECK(hipFree(p[i]));
}

/* exporter allocates, and ends when it is told to. */
static void exporter(int fd)
{
	hipIpcMemHandle_t h;
	void *d;
	CHECK(hipMalloc(&d, BYTES));
	fill(d, 5);
	CHECK(hipIpcGetMemHandle(&h, d));
	tell(fd, h);
	wait_for(fd);
}

/* Memory whose process has ended stays as long as it is open. */
static void ended(void)
{
	struct process a = start("exporter");
	hipIpcMemHandle_t h;
	void *d = NULL;
	hear(a.fd, h);
	CHECK(hipIpcOpenMemHandle(&d, h, hipIpcMemLazyEnablePeerAccess));
	ASSERT(all(d, 5));
	go(a.fd);
	finished(a);
	ASSERT(all(d, 5));
	twice(d, NULL);
	CHECK(hipDeviceSynchronize());
	ASSERT(all(d, 10));
	CHECK(hipIpcCloseMemHandle(d));
	hipError_t e = hipSuccess; /* nobody has it any more, as soon as the process's end is noticed */
	for (int i = 0; i < 500 && (e = hipIpcOpenMemHandle(&d, h, hipIpcMemLazyEnablePeerAccess)) == hipSuccess; i++) {
		CHECK(hipIpcCloseMemHandle(d));
		usleep(10000);
	}
	ASSERT(e == hipErrorInvalidDevicePointer);
}

/* waiter waits for another process's events, and has one of its own. */
static void waiter(int fd)
{
	hipIpcEventHandle_t there;
	hipIpcMemHandle_t h;
	hipEvent_t e = NULL;
	hipStream_t s;
	void *d;
	float x;
	hear(fd, h);
	hear(fd, there);
	EXPECT(hipIpcOpenEventHandle(NULL, there), hipErrorInvalidValue);
	CHECK(hipIpcOpenMemHandle(&d, h, hipIpcMemLazyEnablePeerAccess));
	CHECK(hipIpcOpenEventHandle(&e, there));
	CHECK(hipStreamCreateWithFlags(&s, hipStreamNonBlocking));
	for (int i = 0; i < 6; i++) {
		hear(fd, x);
		if (i % 2) {
			CHECK(hipEventSynchronize(e));
			EXPECT(hipEventQuery(e), hipSuccess);
			ASSERT(all(d, x));
		} else { /* the stream waits, and the host does not */
			static float v[N];
			CHECK(hipStreamWaitEvent(s, e, 0));
			CHECK(hipMemcpyAsync(v, d, BYTES, hipMemcpyDeviceToHost, s));
			CHECK(hipStreamSynchronize(s));
			ASSERT(v[0] == x && v[N - 1] == x);
		}
		go(fd);
	}
	CHECK(hipEventDestroy(e));
	CHECK(hipStreamDestroy(s));
	CHECK(hipIpcCloseMemHandle(d));
}

static void events(void)
{
	struct process a = start("waiter");
	hipIpcEventHandle_t here;
	hipIpcMemHandle_t h;
	hipEvent_t e, plain;
	hipStream_t s;
	void *d;
	float x = 1;
	CHECK(hipMalloc(&d, BYTES));
	fill(d, x);
	CHECK(hipStreamCreateWithFlags(&s, hipStreamNonBlocking));
	EXPECT(hipEventCreateWithFlags(&e, hipEventInterprocess), hipErrorInvalidValue); /* such an event has no time */
	CHECK(hipEventCreateWithFlags(&e, hipEventDisableTiming | hipEventInterprocess));
	CHECK(hipEventCreateWithFlags(&plain, hipEventDisableTiming));
	EXPECT(hipIpcGetEventHandle(NULL, e), hipErrorInvalidValue);
	EXPECT(hipIpcGetEventHandle(&here, NULL), hipErrorInvalidValue);
	EXPECT(hipIpcGetEventHandle(&here, plain), hipErrorInvalidConfiguration);
	CHECK(hipIpcGetEventHandle(&here, e));
	CHECK(hipIpcGetMemHandle(&h, d));
	hipEvent_t own = NULL;
	EXPECT(hipIpcOpenEventHandle(&own, here), hipErrorInvalidContext);
	tell(a.fd, h);
	tell(a.fd, here);
	for (int i = 0; i < 6; i++) {
		for (int k = 0; k < 3; k++) {
			twice(d, s);
			x *= 2;
		}
		CHECK(hipEventRecord(e, s));
		tell(a.fd, x);
		wait_for(a.fd);
	}
	finished(a);
	CHECK(hipEventSynchronize(e));
	CHECK(hipStreamSynchronize(s));
	CHECK(hipEventDestroy(plain));
	CHECK(hipEventDestroy(e));
	CHECK(hipStreamDestroy(s));
	CHECK(hipFree(d));
}

/* pass and take send a descriptor over a socket. */
static void pass(int socket, int fd)
{
	char c = 'f', control[CMSG_SPACE(sizeof fd)] = {0};
	struct iovec v = {&c, 1};
	struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
	struct cmsghdr *h = CMSG_FIRSTHDR(&m);
	h->cmsg_level = SOL_SOCKET;
	h->cmsg_type = SCM_RIGHTS;
	h->cmsg_len = CMSG_LEN(sizeof fd);
	memcpy(CMSG_DATA(h), &fd, sizeof fd);
	ASSERT(sendmsg(socket, &m, 0) == 1);
}

static int take(int socket)
{
	int fd = -1;
	char c = 0, control[CMSG_SPACE(sizeof fd)] = {0};
	struct iovec v = {&c, 1};
	struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
	if (recvmsg(socket, &m, 0) == 1 && CMSG_FIRSTHDR(&m))
		memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof fd);
	ASSERT(c == 'f' && fd >= 0);
	return fd;
}

/* swimmer has another process's pool. */
static void swimmer(int fd)
{
	hipMemPoolPtrExportData data;
	hipMemPool_t pool = NULL;
	int on = -1, handle = take(fd);
	void *p = NULL, *shared = (void *)(uintptr_t)handle;
	hear(fd, data);
	EXPECT(hipMemPoolImportFromShareableHandle(NULL, shared, hipMemHandleTypePosixFileDescriptor, 0), hipErrorInvalidValue);
	EXPECT(hipMemPoolImportFromShareableHandle(&pool, NULL, hipMemHandleTypePosixFileDescriptor, 0), hipErrorInvalidValue);
	EXPECT(hipMemPoolImportFromShareableHandle(&pool, shared, hipMemHandleTypeNone, 0), hipErrorInvalidValue);
	EXPECT(hipMemPoolImportFromShareableHandle(&pool, shared, hipMemHandleTypePosixFileDescriptor, 1), hipErrorInvalidValue);
	CHECK(hipMemPoolImportFromShareableHandle(&pool, shared, hipMemHandleTypePosixFileDescriptor, 0));
	CHECK(hipMemPoolGetAttribute(pool, hipMemPoolReuseAllowOpportunistic, &on));
	ASSERT(on == 0); /* as the other made it */
	EXPECT(hipMemPoolImportPointer(NULL, pool, &data), hipErrorInvalidValue);
	EXPECT(hipMemPoolImportPointer(&p, NULL, &data), hipErrorInvalidValue);
	EXPECT(hipMemPoolImportPointer(&p, pool, NULL), hipErrorInvalidValue);
	CHECK(hipMemPoolImportPointer(&p, pool, &data));
	ASSERT(all(p, 3));
	twice(p, NULL);
	CHECK(hipDeviceSynchronize());
	CHECK(hipFreeAsync(p, NULL));
	CHECK(hipDeviceSynchronize());
	CHECK(hipMemPoolDestroy(pool));
	close(handle);
}

static void pools(void)
{
	hipMemPoolProps props = {.allocType = hipMemAllocationTypePinned, .location = {hipMemLocationTypeDevice, 0}};
	hipMemPoolPtrExportData data;
	struct process a;
	hipMemPool_t pool, own;
	int fd = -1, off = 0;
	void *p;
	CHECK(hipMemPoolCreate(&own, &props)); /* not made to be shared */
	EXPECT(hipMemPoolExportToShareableHandle(&fd, own, hipMemHandleTypePosixFileDescriptor, 0), hipErrorInvalidValue);
	CHECK(hipMemPoolDestroy(own));
	props.handleTypes = hipMemHandleTypePosixFileDescriptor;
	CHECK(hipMemPoolCreate(&pool, &props));
	CHECK(hipMemPoolSetAttribute(pool, hipMemPoolReuseAllowOpportunistic, &off));
	CHECK(hipMallocFromPoolAsync(&p, BYTES, pool, NULL));
	CHECK(hipStreamSynchronize(NULL));
	fill(p, 3);
	EXPECT(hipMemPoolExportToShareableHandle(NULL, pool, hipMemHandleTypePosixFileDescriptor, 0), hipErrorInvalidValue);
	EXPECT(hipMemPoolExportToShareableHandle(&fd, NULL, hipMemHandleTypePosixFileDescriptor, 0), hipErrorInvalidValue);
	EXPECT(hipMemPoolExportToShareableHandle(&fd, pool, hipMemHandleTypeNone, 0), hipErrorInvalidValue);
	EXPECT(hipMemPoolExportToShareableHandle(&fd, pool, hipMemHandleTypePosixFileDescriptor, 1), hipErrorInvalidValue);
	CHECK(hipMemPoolExportToShareableHandle(&fd, pool, hipMemHandleTypePosixFileDescriptor, 0));
	ASSERT(fd >= 0);
	EXPECT(hipMemPoolExportPointer(NULL, p), hipErrorInvalidValue);
	EXPECT(hipMemPoolExportPointer(&data, NULL), hipErrorInvalidValue);
	CHECK(hipMemPoolExportPointer(&data, p));
	a = start("swimmer");
	pass(a.fd, fd);
	tell(a.fd, data);
	finished(a);
	ASSERT(all(p, 6));
	CHECK(hipFreeAsync(p, NULL));
	CHECK(hipStreamSynchronize(NULL));
	CHECK(hipMemPoolDestroy(pool));
	close(fd);
}

int main(int argc, char **argv)
{
	if (argc > 2) {
		int fd = atoi(argv[2]);
		if (strcmp(argv[1], "importer") == 0)
			importer(fd);
		else if (strcmp(argv[1], "exporter") == 0)
			exporter(fd);
		else if (strcmp(argv[1], "gatherer") == 0)
			gatherer(fd);
		else if (strcmp(argv[1], "waiter") == 0)
			waiter(fd);
		else
			swimmer(fd);
		return failures != 0;
	}
	memory();
	pieces();
	ended();
	events();
	pools();
	return result("ipc");
}
