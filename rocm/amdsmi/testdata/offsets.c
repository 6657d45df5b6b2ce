/* Prints where a C compiler puts the fields of the structures of one ABI. */
#include <stdio.h>
#include "zz_structs.h"

static const struct { const char *name; size_t offset, width, count; } rows[] = {
	LAYOUT_ROWS
};

int main(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		printf("%s %zu %zu %zu\n", rows[i].name, rows[i].offset, rows[i].width, rows[i].count);
	return 0;
}
