//go:build linux && amd64 && cgo

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include "library.h"

enum { tag_size = 16, get_tag = 0x10, set_tag = 0x11 }; /* EVP_CTRL_AEAD_GET_TAG, _SET_TAG */

/* What is used of OpenSSL 3, as its headers declare it: they are not needed to build. */
#define FUNCTIONS(F) \
	F(unsigned long, OpenSSL_version_num, (void)) \
	F(void *, OSSL_LIB_CTX_new, (void)) \
	F(void *, EVP_CIPHER_fetch, (void *, const char *, const char *)) \
	F(void *, EVP_CIPHER_CTX_new, (void)) \
	F(void, EVP_CIPHER_CTX_free, (void *)) \
	F(int, EVP_CIPHER_CTX_ctrl, (void *, int, int, void *)) \
	F(int, EVP_CipherInit_ex2, (void *, const void *, const unsigned char *, const unsigned char *, int, const void *)) \
	F(int, EVP_CipherUpdate, (void *, unsigned char *, int *, const unsigned char *, int)) \
	F(int, EVP_CipherFinal_ex, (void *, unsigned char *, int *))

#define DECLARE(result, name, arguments) static result(*p_##name) arguments;
FUNCTIONS(DECLARE)

static void *aes128, *aes256;

unsigned long rocwire_crypto_open(char *why, size_t size)
{
	/* Never closed: it stays for the process, as OpenSSL wants it. */
	void *lib = dlopen("libcrypto.so.3", RTLD_NOW | RTLD_LOCAL);
	void *own;

	if (!lib) {
		snprintf(why, size, "%s", dlerror());
		return 0;
	}
#define LOAD(result, name, arguments) \
	if (!(p_##name = (__typeof__(p_##name))dlsym(lib, #name))) { \
		snprintf(why, size, "libcrypto.so.3 has no %s", #name); \
		return 0; \
	}
	FUNCTIONS(LOAD)
	if (!(own = p_OSSL_LIB_CTX_new()) || !(aes128 = p_EVP_CIPHER_fetch(own, "AES-128-GCM", NULL)) ||
	    !(aes256 = p_EVP_CIPHER_fetch(own, "AES-256-GCM", NULL))) {
		snprintf(why, size, "libcrypto.so.3 has no AES-GCM");
		return 0;
	}
	return p_OpenSSL_version_num();
}

void *rocwire_crypto_context(int seal, const unsigned char *key, size_t size)
{
	void *cipher = size == 16 ? aes128 : size == 32 ? aes256 : NULL;
	void *c = cipher ? p_EVP_CIPHER_CTX_new() : NULL;

	if (c && p_EVP_CipherInit_ex2(c, cipher, key, NULL, seal, NULL) != 1) {
		p_EVP_CIPHER_CTX_free(c);
		c = NULL;
	}
	return c;
}

void rocwire_crypto_free(void *context)
{
	p_EVP_CIPHER_CTX_free(context);
}

int rocwire_crypto_seal(void *c, const unsigned char *nonce, const unsigned char *data, size_t data_size, unsigned char *out,
			const unsigned char *in, size_t n, const unsigned char *tail, size_t tail_size)
{
	int done, more, rest;

	/* A stream cipher: each byte in is a byte out. */
	return p_EVP_CipherInit_ex2(c, NULL, NULL, nonce, 1, NULL) == 1 && p_EVP_CipherUpdate(c, NULL, &done, data, (int)data_size) == 1 &&
	       p_EVP_CipherUpdate(c, out, &done, in, (int)n) == 1 && (size_t)done == n &&
	       p_EVP_CipherUpdate(c, out + n, &more, tail, (int)tail_size) == 1 && (size_t)more == tail_size &&
	       p_EVP_CipherFinal_ex(c, out + n + tail_size, &rest) == 1 && rest == 0 &&
	       p_EVP_CIPHER_CTX_ctrl(c, get_tag, tag_size, out + n + tail_size) == 1;
}

int rocwire_crypto_unseal(void *c, const unsigned char *nonce, const unsigned char *data, size_t data_size, unsigned char *out,
			  const unsigned char *in, size_t n, unsigned char *tail, size_t tail_size)
{
	unsigned char tag[tag_size]; /* out may be in */
	int done, more, rest;

	memcpy(tag, in + n + tail_size, tag_size);
	return p_EVP_CipherInit_ex2(c, NULL, NULL, nonce, 0, NULL) == 1 && p_EVP_CIPHER_CTX_ctrl(c, set_tag, tag_size, tag) == 1 &&
	       p_EVP_CipherUpdate(c, NULL, &done, data, (int)data_size) == 1 && p_EVP_CipherUpdate(c, out, &done, in, (int)n) == 1 &&
	       (size_t)done == n && p_EVP_CipherUpdate(c, tail, &more, in + n, (int)tail_size) == 1 && (size_t)more == tail_size &&
	       p_EVP_CipherFinal_ex(c, tag, &rest) == 1 && rest == 0;
}
