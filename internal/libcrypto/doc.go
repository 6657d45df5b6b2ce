// Package libcrypto is AES-GCM by the machine's OpenSSL, for what is long. OpenSSL has code for the 512-bit vectors of newer processors, which
// crypto/aes has not (golang/go#42726), and is three to four times as fast there.
//
// libcrypto.so.3 is opened at run time, when the first key for something long is needed: nothing is needed to build, and a machine without it, one whose
// library or processor has nothing to gain, a program built without cgo, and ROCWIRE_LIBCRYPTO=0 go on with crypto/aes. The library gets a context of its
// own (OSSL_LIB_CTX), so that neither openssl.cnf nor what a program does with its own OpenSSL matters here.
package libcrypto
