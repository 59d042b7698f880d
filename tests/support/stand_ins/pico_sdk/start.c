/* In place of the SDK's start-up code. */
int main(void);
void _entry_point(void);

void _entry_point(void)
{
    main();
}
