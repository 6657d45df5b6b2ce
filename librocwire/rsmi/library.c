/* The library: its beginning and end, the cards by number, statuses and texts. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rsmi.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static unsigned users; /* rsmi_init less rsmi_shut_down */
static amdsmi_processor_handle *cards;
static uint32_t count;

static const struct {
	amdsmi_status_t theirs;
	rsmi_status_t ours;
} statuses[] = {
	{AMDSMI_STATUS_SUCCESS, RSMI_STATUS_SUCCESS},
	{AMDSMI_STATUS_INVAL, RSMI_STATUS_INVALID_ARGS},
	{AMDSMI_STATUS_ARG_PTR_NULL, RSMI_STATUS_INVALID_ARGS},
	{AMDSMI_STATUS_NOT_SUPPORTED, RSMI_STATUS_NOT_SUPPORTED},
	{AMDSMI_STATUS_NOT_YET_IMPLEMENTED, RSMI_STATUS_NOT_YET_IMPLEMENTED},
	{AMDSMI_STATUS_FILE_ERROR, RSMI_STATUS_FILE_ERROR},
	{AMDSMI_STATUS_IO, RSMI_STATUS_FILE_ERROR},
	{AMDSMI_STATUS_NO_PERM, RSMI_STATUS_PERMISSION},
	{AMDSMI_STATUS_OUT_OF_RESOURCES, RSMI_STATUS_OUT_OF_RESOURCES},
	{AMDSMI_STATUS_INTERNAL_EXCEPTION, RSMI_STATUS_INTERNAL_EXCEPTION},
	{AMDSMI_STATUS_INPUT_OUT_OF_BOUNDS, RSMI_STATUS_INPUT_OUT_OF_BOUNDS},
	{AMDSMI_STATUS_INIT_ERROR, RSMI_STATUS_INIT_ERROR},
	{AMDSMI_STATUS_NOT_INIT, RSMI_STATUS_INIT_ERROR},
	{AMDSMI_STATUS_DRIVER_NOT_LOADED, RSMI_STATUS_INIT_ERROR},
	{AMDSMI_STATUS_NOT_FOUND, RSMI_STATUS_NOT_FOUND},
	{AMDSMI_STATUS_INSUFFICIENT_SIZE, RSMI_STATUS_INSUFFICIENT_SIZE},
	{AMDSMI_STATUS_INTERRUPT, RSMI_STATUS_INTERRUPT},
	{AMDSMI_STATUS_UNEXPECTED_SIZE, RSMI_STATUS_UNEXPECTED_SIZE},
	{AMDSMI_STATUS_NO_DATA, RSMI_STATUS_NO_DATA},
	{AMDSMI_STATUS_UNEXPECTED_DATA, RSMI_STATUS_UNEXPECTED_DATA},
	{AMDSMI_STATUS_BUSY, RSMI_STATUS_BUSY},
	{AMDSMI_STATUS_TIMEOUT, RSMI_STATUS_BUSY},
	{AMDSMI_STATUS_RETRY, RSMI_STATUS_BUSY},
	{AMDSMI_STATUS_REFCOUNT_OVERFLOW, RSMI_STATUS_REFCOUNT_OVERFLOW},
	{AMDSMI_STATUS_SETTING_UNAVAILABLE, RSMI_STATUS_SETTING_UNAVAILABLE},
	{AMDSMI_STATUS_AMDGPU_RESTART_ERR, RSMI_STATUS_AMDGPU_RESTART_ERR},
	{AMDSMI_STATUS_DRM_ERROR, RSMI_STATUS_DRM_ERROR},
	{AMDSMI_STATUS_FAIL_LOAD_MODULE, RSMI_STATUS_FAIL_LOAD_MODULE},
	{AMDSMI_STATUS_FAIL_LOAD_SYMBOL, RSMI_STATUS_FAIL_LOAD_SYMBOL},
};

rsmi_status_t rw_status(amdsmi_status_t s)
{
	for (size_t i = 0; i < sizeof(statuses) / sizeof(*statuses); i++)
		if (statuses[i].theirs == s)
			return statuses[i].ours;
	return RSMI_STATUS_UNKNOWN_ERROR;
}

RSMI rsmi_status_t rsmi_status_string(rsmi_status_t status, const char **text)
{
	static const char *const texts[] = {
		"RSMI_STATUS_SUCCESS: done.",
		"RSMI_STATUS_INVALID_ARGS: an argument is not valid.",
		"RSMI_STATUS_NOT_SUPPORTED: not supported here.",
		"RSMI_STATUS_FILE_ERROR: a file or connection failed.",
		"RSMI_STATUS_PERMISSION: no permission.",
		"RSMI_STATUS_OUT_OF_RESOURCES: out of memory or other resources.",
		"RSMI_STATUS_INTERNAL_EXCEPTION: the library failed.",
		"RSMI_STATUS_INPUT_OUT_OF_BOUNDS: an argument is out of its range.",
		"RSMI_STATUS_INIT_ERROR: the library is not initialised, or could not be.",
		"RSMI_STATUS_NOT_YET_IMPLEMENTED: not implemented.",
		"RSMI_STATUS_NOT_FOUND: not found.",
		"RSMI_STATUS_INSUFFICIENT_SIZE: what was given is too small for the answer.",
		"RSMI_STATUS_INTERRUPT: interrupted.",
		"RSMI_STATUS_UNEXPECTED_SIZE: more or less was read than expected.",
		"RSMI_STATUS_NO_DATA: there is no data.",
		"RSMI_STATUS_UNEXPECTED_DATA: what was read is not what was expected.",
		"RSMI_STATUS_BUSY: busy, or no answer in time.",
		"RSMI_STATUS_REFCOUNT_OVERFLOW: initialised too often.",
		"RSMI_STATUS_SETTING_UNAVAILABLE: that setting is not available.",
		"RSMI_STATUS_AMDGPU_RESTART_ERR: the driver could not be started anew.",
		"RSMI_STATUS_DRM_ERROR: the driver refused.",
		"RSMI_STATUS_FAIL_LOAD_MODULE: a library could not be loaded.",
		"RSMI_STATUS_FAIL_LOAD_SYMBOL: a library lacks a function.",
	};
	if (!text)
		return RSMI_STATUS_INVALID_ARGS;
	*text = status < sizeof(texts) / sizeof(*texts) ? texts[status] : "RSMI_STATUS_UNKNOWN_ERROR: an unknown error.";
	return RSMI_STATUS_SUCCESS;
}

/* list finds the cards; under the lock. */
static amdsmi_status_t list(void)
{
	uint32_t sockets = 0;
	amdsmi_socket_handle *all = NULL;
	amdsmi_status_t s = amdsmi_get_socket_handles(&sockets, NULL);
	if (s == AMDSMI_STATUS_SUCCESS && sockets) {
		if (!(all = calloc(sockets, sizeof(*all))))
			return AMDSMI_STATUS_OUT_OF_RESOURCES;
		s = amdsmi_get_socket_handles(&sockets, all);
	}
	for (uint32_t i = 0; s == AMDSMI_STATUS_SUCCESS && i < sockets; i++) {
		uint32_t n = 0;
		s = amdsmi_get_processor_handles(all[i], &n, NULL);
		if (s != AMDSMI_STATUS_SUCCESS || n == 0)
			continue;
		amdsmi_processor_handle *more = realloc(cards, (count + n) * sizeof(*cards));
		if (!more) {
			s = AMDSMI_STATUS_OUT_OF_RESOURCES;
			break;
		}
		cards = more;
		s = amdsmi_get_processor_handles(all[i], &n, cards + count);
		if (s == AMDSMI_STATUS_SUCCESS)
			count += n;
	}
	free(all);
	return s;
}

static void forget(void)
{
	free(cards);
	cards = NULL;
	count = 0;
}

RSMI rsmi_status_t rsmi_init(uint64_t flags)
{
	(void)flags;
	pthread_mutex_lock(&mutex);
	amdsmi_status_t s = AMDSMI_STATUS_SUCCESS;
	if (users == 0) {
		s = amdsmi_init(AMDSMI_INIT_AMD_GPUS);
		if (s == AMDSMI_STATUS_SUCCESS && (s = list()) != AMDSMI_STATUS_SUCCESS) {
			forget();
			amdsmi_shut_down();
		}
	}
	if (s == AMDSMI_STATUS_SUCCESS)
		users++;
	pthread_mutex_unlock(&mutex);
	return rw_status(s);
}

RSMI rsmi_status_t rsmi_shut_down(void)
{
	amdsmi_status_t s = AMDSMI_STATUS_SUCCESS;
	pthread_mutex_lock(&mutex);
	if (users == 0)
		s = AMDSMI_STATUS_INIT_ERROR;
	else if (--users == 0) {
		forget();
		s = amdsmi_shut_down();
	}
	pthread_mutex_unlock(&mutex);
	return rw_status(s);
}

rsmi_status_t rw_card(uint32_t index, amdsmi_processor_handle *card)
{
	rsmi_status_t s = RSMI_STATUS_SUCCESS;
	pthread_mutex_lock(&mutex);
	if (users == 0)
		s = RSMI_STATUS_INIT_ERROR;
	else if (index >= count)
		s = RSMI_STATUS_INVALID_ARGS;
	else
		*card = cards[index];
	pthread_mutex_unlock(&mutex);
	return s;
}

RSMI rsmi_status_t rsmi_num_monitor_devices(uint32_t *n)
{
	if (!n)
		return RSMI_STATUS_INVALID_ARGS;
	pthread_mutex_lock(&mutex);
	rsmi_status_t s = users ? RSMI_STATUS_SUCCESS : RSMI_STATUS_INIT_ERROR;
	*n = count;
	pthread_mutex_unlock(&mutex);
	return s;
}

rsmi_status_t rw_text(char *to, size_t len, const char *text)
{
	if (!to || len == 0)
		return RSMI_STATUS_INVALID_ARGS;
	return (size_t)snprintf(to, len, "%s", text) < len ? RSMI_STATUS_SUCCESS : RSMI_STATUS_INSUFFICIENT_SIZE;
}

/* The interface is that of 7.x; RCCL wants 5.x at least. */
RSMI rsmi_status_t rsmi_version_get(rsmi_version_t *version)
{
	if (!version)
		return RSMI_STATUS_INVALID_ARGS;
	*version = (rsmi_version_t){7, 6, 0, "rocwire"};
	return RSMI_STATUS_SUCCESS;
}

/* The one component that has a version is the driver (0). */
RSMI rsmi_status_t rsmi_version_str_get(uint32_t component, char *text, uint32_t len)
{
	if (component != 0)
		return RSMI_STATUS_INVALID_ARGS;
	CARD(0);
	INFO(amdsmi_driver_info_t, driver, amdsmi_get_gpu_driver_info(card, &driver));
	return rw_text(text, len, driver.driver_version);
}
