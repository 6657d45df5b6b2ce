/* The one function of Windows' bcryptprimitives.dll that Go's runtime needs. Wine has
 * that library since version 8.13. */
#include <windows.h>

#include <ntsecapi.h>

__declspec(dllexport) BOOL WINAPI ProcessPrng(BYTE *to, SIZE_T n)
{
	while (n > 0) {
		ULONG part = n < 65536 ? (ULONG)n : 65536;
		if (!RtlGenRandom(to, part))
			return FALSE;
		to += part;
		n -= part;
	}
	return TRUE;
}
