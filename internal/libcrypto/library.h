#pragma once
#include <stddef.h>

/* Of the functions below 0 is a failure, unless they say more. */

/* rocwire_crypto_open opens the library once for the process: its version number,
 * as OpenSSL_version_num has it, or 0 and why. */
unsigned long rocwire_crypto_open(char *why, size_t size);

/* rocwire_crypto_context is a context that seals or opens with a key of 16 or 32 bytes. */
void *rocwire_crypto_context(int seal, const unsigned char *key, size_t size);
void rocwire_crypto_free(void *context);

/* rocwire_crypto_seal encrypts n bytes and, behind them, those of tail, and writes the tag of 16 bytes behind that. */
int rocwire_crypto_seal(void *context, const unsigned char *nonce, const unsigned char *data, size_t data_size, unsigned char *out,
			const unsigned char *in, size_t n, const unsigned char *tail, size_t tail_size);
/* rocwire_crypto_unseal decrypts n bytes to out, and those behind them to tail; the tag stands behind both. 0: they are not what was sealed. */
int rocwire_crypto_unseal(void *context, const unsigned char *nonce, const unsigned char *data, size_t data_size, unsigned char *out,
			  const unsigned char *in, size_t n, unsigned char *tail, size_t tail_size);
