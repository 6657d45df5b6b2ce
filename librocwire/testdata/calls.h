/* Before the calls that the test writes: what they are called with and how their
 * answers are judged. */
#include <stdio.h>
#include <string.h>

static char scratch[8][1 << 20];
static amdsmi_socket_handle socket;
static amdsmi_processor_handle processor;
static amdsmi_processor_handle stray = scratch; /* a pointer, but to no processor */
static int opened, made, wrong;

static void judge(const char *name, int r, int good)
{
	made++;
	if (!good) {
		fprintf(stderr, "%s: %d\n", name, r);
		wrong++;
	}
}

/* any takes every status there is. */
static inline void any(const char *name, amdsmi_status_t r)
{
	judge(name, (int)r, r <= AMDSMI_STATUS_CORRUPTED_EEPROM || r >= AMDSMI_STATUS_MAP_ERROR);
}

/* early is any once the library is open, and one answer before. */
static inline void early(const char *name, amdsmi_status_t r)
{
	if (opened)
		any(name, r);
	else
		judge(name, (int)r, r == AMDSMI_STATUS_NOT_INIT);
}

static inline void refused(const char *name, amdsmi_status_t r)
{
	judge(name, (int)r, r == AMDSMI_STATUS_NOT_FOUND || r == AMDSMI_STATUS_NOT_SUPPORTED || r == AMDSMI_STATUS_INVAL);
}
