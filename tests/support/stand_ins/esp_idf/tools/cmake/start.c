/* In place of FreeRTOS: calls app_main(). */
extern void app_main(void);

int main(void)
{
    app_main();
    return 0;
}
