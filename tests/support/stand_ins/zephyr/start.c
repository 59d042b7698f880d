/* In place of the kernel: sets up memory, calls main(), and ends the emulation with what it returns. */
extern void initialise_monitor_handles(void);
extern void exit(int code);
extern int main(void);
extern char data_start[], data_end[], data_load[], bss_start[], bss_end[];

void start(void)
{
    for (char *to = data_start, *from = data_load; to < data_end;) {
        *(volatile char *)to++ = *from++;
    }
    for (char *to = bss_start; to < bss_end;) {
        *(volatile char *)to++ = 0;
    }
    initialise_monitor_handles();
    exit(main());
}

__attribute__((section(".vectors"), used)) static const void *const vectors[] = {(void *)0x20010000, (void *)start};
