/* TCP on the loopback interface, for the floors. Sockets have the options, and the congestion control, that wire uses within one machine. */
#ifndef SOCKET_H
#define SOCKET_H

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

static inline void die(const char *what)
{
	perror(what);
	exit(1);
}

static inline int tuned(int fd)
{
	int one = 1;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "reno", 4);
	return fd;
}

/* listening is a socket on a free port, whose address goes to a. */
static inline int listening(struct sockaddr_in *a)
{
	socklen_t len = sizeof *a;
	int l = socket(AF_INET, SOCK_STREAM, 0);
	*a = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	if (l < 0 || bind(l, (struct sockaddr *)a, len) || listen(l, 1) || getsockname(l, (struct sockaddr *)a, &len))
		die("listen");
	return l;
}

static inline int accepted(int l)
{
	int fd = accept(l, NULL, NULL);
	if (fd < 0)
		die("accept");
	return tuned(fd);
}

static inline int connected(const struct sockaddr_in *a)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	if (fd < 0 || connect(fd, (const struct sockaddr *)a, sizeof *a))
		die("connect");
	return tuned(fd);
}

/* get and put move all n bytes; 0 if the peer has gone before. */
static inline int get(int fd, char *p, size_t n)
{
	for (size_t have = 0; have < n;) {
		ssize_t k = recv(fd, p + have, n - have, 0);
		if (k <= 0)
			return 0;
		have += (size_t)k;
	}
	return 1;
}

static inline int put(int fd, const char *p, size_t n)
{
	for (size_t gone = 0; gone < n;) {
		ssize_t k = send(fd, p + gone, n - gone, MSG_NOSIGNAL);
		if (k <= 0)
			return 0;
		gone += (size_t)k;
	}
	return 1;
}

#endif
