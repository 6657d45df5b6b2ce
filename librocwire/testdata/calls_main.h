/* Behind the calls that the test writes. */
int main(void)
{
	uint32_t sockets = 1, cards = 1;
	zeros();
	if (made < 240) {
		fprintf(stderr, "only %d calls\n", made);
		return 1;
	}
	if (amdsmi_init(AMDSMI_INIT_AMD_GPUS) || amdsmi_get_socket_handles(&sockets, &socket) || amdsmi_get_processor_handles(socket, &cards, &processor))
		return 1;
	opened = 1;
	zeros();
	with_stray();
	for (int i = 0; i < 3; i++) {
		memset(scratch, i == 1 ? 0 : 1, sizeof scratch); /* lengths and counts are 0x01010101, or 0 */
		with_processor();
	}
	any("amdsmi_shut_down", amdsmi_shut_down());
	printf("%d calls\n", made);
	puts(wrong ? "calls: wrong" : "calls: ok");
	return wrong != 0;
}
