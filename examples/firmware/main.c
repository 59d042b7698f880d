/* Reads handwritten digits with two models that share their memory, and shows what it read, four side by side. */
#include <stdbool.h>
#include <string.h>

#include "digits.h"
#include "host.h"
#include "odd_even.h"
#include "regions.h"

enum { SIDE = 8, COLUMNS = 4, CELL = 2 * SIDE + 2 };

struct seen {
    int8_t pixels[SIDE * SIDE];
    int digit;
    bool is_odd;
};

static int largest(const int8_t *scores, int count)
{
    int best = 0;

    for (int i = 1; i < count; ++i) {
        if (scores[i] > scores[best]) {
            best = i;
        }
    }
    return best;
}

static bool look_at(struct seen *picture)
{
    memcpy(digits_map_inputs().image, picture->pixels, DIGITS_IMAGE_SIZE);
    if (digits_run() != USMP_OK) {
        return false;
    }
    picture->digit = largest(digits_map_outputs().scores, DIGITS_SCORES_SIZE);

    /* From here on the scores are gone: odd_even uses the same bytes. */
    memcpy(odd_even_map_inputs().image, picture->pixels, ODD_EVEN_IMAGE_SIZE);
    if (odd_even_run() != USMP_OK) {
        return false;
    }
    picture->is_odd = odd_even_map_outputs().odd[0] >= 0; /* the middle of -128 to 127 */
    return true;
}

/* One line through all pictures: every pixel is two characters wide, since characters are narrow. */
static void show_line(const struct seen *pictures, int count, int y)
{
    char line[COLUMNS * CELL + 2];

    memset(line, ' ', sizeof line);
    for (int i = 0; i < count; ++i) {
        for (int x = 0; x < SIDE; ++x) {
            const int shade = (pictures[i].pixels[SIDE * y + x] + 128) / 52;
            memset(&line[CELL * i + 2 * x], " .:*#"[shade], 2);
        }
    }
    memcpy(&line[CELL * count], "\n", 2);
    host_print(line);
}

static void show(const struct seen *pictures, int count)
{
    for (int y = 0; y < SIDE; ++y) {
        show_line(pictures, count, y);
    }
    for (int i = 0; i < count; ++i) {
        host_print("    ");
        host_print_number((unsigned)pictures[i].digit);
        host_print(pictures[i].is_odd ? ", odd        " : ", even       ");
    }
    host_print("\n\n");
}

static void show_pools(void)
{
    for (const struct usmp_region *pool = first_pool; pool < regions + region_count; ++pool) {
        host_print_address((uintptr_t)pool->start);
        host_print(pool->access == USMP_RW ? "  rw  " : "  ro  ");
        host_print(pool->name);
        host_print(", ");
        host_print_number((unsigned)(pool->end - pool->start));
        host_print(" bytes\n");
    }
    host_print("\n");
}

/* Return how many pictures there were, four at the most, or -1 if a model did not run. */
static int look_at_next(struct seen *pictures, int file)
{
    for (int i = 0; i < COLUMNS; ++i) {
        if (host_read(file, pictures[i].pixels, sizeof pictures[i].pixels) < sizeof pictures[i].pixels) {
            return i;
        }
        if (!look_at(&pictures[i])) {
            return -1;
        }
    }
    return COLUMNS;
}

int main(void)
{
    struct seen pictures[COLUMNS];
    const int file = host_open("pictures.bin", HOST_READ);

    if (file < 0) {
        host_print("there is no pictures.bin where the debugger or QEMU runs\n");
        return 1;
    }
    show_pools();
    for (;;) {
        const int count = look_at_next(pictures, file);
        if (count <= 0) {
            host_close(file);
            return -count;
        }
        show(pictures, count);
    }
}
