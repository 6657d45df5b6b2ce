/* amdsmi_init and amdsmi_shut_down from many threads, with calls between them; and
 * what the child of a fork is told. */
#include <amd_smi/amdsmi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 8, ROUNDS = 60 };

static atomic_int wrong, asked;

/* Whatever the others do: between its own init and shut_down, a thread's library is
 * open, and its handles lead to the card. */
static void *rounds(void *unused)
{
	(void)unused;
	for (int i = 0; i < ROUNDS; i++) {
		amdsmi_socket_handle socket;
		amdsmi_processor_handle card;
		amdsmi_asic_info_t asic;
		uint32_t sockets = 1, cards = 1;
		amdsmi_status_t r = amdsmi_init(AMDSMI_INIT_AMD_GPUS);
		if (r == AMDSMI_STATUS_SUCCESS)
			r = amdsmi_get_socket_handles(&sockets, &socket);
		if (r == AMDSMI_STATUS_SUCCESS)
			r = amdsmi_get_processor_handles(socket, &cards, &card);
		if (r == AMDSMI_STATUS_SUCCESS)
			r = amdsmi_get_gpu_asic_info(card, &asic);
		if (r != AMDSMI_STATUS_SUCCESS || strncmp(asic.market_name, "AMD", 3) != 0) {
			fprintf(stderr, "error %d\n", r);
			wrong++;
		}
		if (amdsmi_shut_down() != AMDSMI_STATUS_SUCCESS)
			wrong++;
	}
	return NULL;
}

/* A thread that never called amdsmi_init finds the library open or not: no more. */
static void *intruder(void *card)
{
	while (!atomic_load(&asked)) {
		amdsmi_asic_info_t asic;
		amdsmi_status_t r = amdsmi_get_gpu_asic_info(card, &asic);
		if (r != AMDSMI_STATUS_SUCCESS && r != AMDSMI_STATUS_NOT_INIT && r != AMDSMI_STATUS_IO) {
			fprintf(stderr, "the intruder: error %d\n", r);
			wrong++;
		}
	}
	return NULL;
}

int main(void)
{
	pthread_t thread[THREADS], other;
	amdsmi_socket_handle socket;
	amdsmi_processor_handle card;
	uint32_t one = 1;
	uint64_t bdf;
	if (amdsmi_get_gpu_bdf_id(&one, &bdf) != AMDSMI_STATUS_NOT_INIT || amdsmi_shut_down() != AMDSMI_STATUS_SUCCESS)
		wrong++;
	if (amdsmi_init(AMDSMI_INIT_AMD_GPUS) || amdsmi_get_socket_handles(&one, &socket) || amdsmi_get_processor_handles(socket, &one, &card) || amdsmi_shut_down())
		wrong++;
	if (amdsmi_get_gpu_bdf_id(card, &bdf) != AMDSMI_STATUS_NOT_INIT)
		wrong++;

	pthread_create(&other, NULL, intruder, card);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, rounds, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	atomic_store(&asked, 1);
	pthread_join(other, NULL);
	if (amdsmi_get_gpu_bdf_id(card, &bdf) != AMDSMI_STATUS_NOT_INIT)
		wrong++;

	if (amdsmi_init(AMDSMI_INIT_AMD_GPUS))
		wrong++;
	pid_t child = fork();
	if (child == 0)
		_exit(amdsmi_get_gpu_bdf_id(card, &bdf) == AMDSMI_STATUS_NOT_INIT && amdsmi_init(AMDSMI_INIT_AMD_GPUS) == AMDSMI_STATUS_INIT_ERROR ? 0 : 1);
	int status = 1;
	waitpid(child, &status, 0);
	if (status || amdsmi_get_gpu_bdf_id(card, &bdf) || amdsmi_shut_down())
		wrong++;
	puts(wrong ? "lifetime: wrong" : "lifetime: ok");
	return wrong != 0;
}
