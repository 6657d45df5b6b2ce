/* For each number it reads, the buckets that the kernel's programs put it into, as a
 * duration and as a size. */
#include "../bpf/buckets.h"

int printf(const char *, ...), scanf(const char *, ...);

int main(void)
{
	u64 n;
	while (scanf("%llu", &n) == 1)
		printf("%d %u\n", (int)bucket_of(n) + FIRST_INDEX, log2_up(n));
	return 0;
}
