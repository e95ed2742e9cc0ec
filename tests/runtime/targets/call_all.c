/* Calls each function of libtarget once, with values that the tests know. */
#include <stdio.h>
#include <string.h>

#include "target.h"

static const char cold_text[4096] __attribute__((aligned(4096))) = "cold";

static int twice(int n) {
    return 2 * n;
}

static void integers(void) {
    take_small(-1, 200, -300, 60000, -70000, 4000000000u);
    take_wide(-1, 2, -3000000000, 18446744073709551615u, 1048576, -6);
    take_char('k', true, false);
    take_many(1, -2, 3, -4, 5, -6, -7000000000, 250, "ninth", -10);
    take_mixed(1, 2.5, 3, 4.5f, 5);
    negative(7);
    low_byte(0x1ff);
    big_number(1099511627776);       /* below 2^53: a number */
    big_number(1152921504606846976); /* 2^60: text */
    huge_number(18446744073709551615u);
    is_even(4);
    is_even(5);
    no_result(11);
    half(3.0, 2);
    call_hidden(5);
    echo_int(1);
    other_name_of_echo(2);
    call_dirty();
    grow_v2(10);
    grow_v2_ptsz(20);
    mix(BLUE, STATUS_OK);
    mix(GREEN, STATUS_BAD);
    mix((enum color)5, STATUS_OK); /* no constant has this value */
}

static void texts(void) {
    char mutable_text[] = "mutable";
    take_text("plain", "", NULL, mutable_text);
    char text[200];
    memset(text, 'x', sizeof text);
    text[199] = 0;
    take_long_text(text);
    take_cold_text(cold_text);
    take_bytes("tab\t\"quote\" back\\ \xc3\xa9 \xff\xfe end");
    take_text("plain", (const char*)text + 199, NULL, mutable_text);
    name_of(1);
    name_of(3);
    log_line("%d %d", 1, 2);
}

static void memory(void) {
    int local = 0;
    take_pointers((void*)0x1000, (void*)0x2000, NULL, (session)0x3000, 0x7f0000001000u, twice);
    uint64_t wide = 0;
    struct point where = {1, 2};
    fill_out(&local, &wide, &where);
    fill_out(&local, &wide, NULL);
    const int in[] = {10, 20, 30};
    const struct point p = {-8, 9};
    const uint8_t bytes[] = {1, 255};
    read_in(in, &p, bytes);
    struct point next = {77, 88};
    struct model m = {.name = "resnet",
                      .rows = 12,
                      .kind = 3,
                      .at = {4, -5},
                      .next = &next,
                      .dims = {1, 2, 3, 4},
                      .tag = "tagged",
                      .flags = {5, 100, -3},
                      .word = 0x1234};
    take_struct(&m);
}

static void structs(void) {
    struct point p = {-3, 4};
    take_by_value(p, 6);
    struct pair pair = {-5000000000, 6, 7};
    take_pair(pair, 8);
    struct large large = {{1, 2, 3, 4, 5}};
    take_large(large, 9);
    make_point(1, 2);
    make_large(10, 3);
    make_session(2);
}

/* The literals of this file are in memory, as they are where a program has run for a while. */
static int warm_up(void) {
    const volatile char* literals[] = {"plain", "ninth", "%d %d"};
    int sum = 0;
    for (int i = 0; i < 3; i++) sum += literals[i][0];
    return sum;
}

int main(void) {
    if (warm_up() == 0) return 1;
    integers();
    texts();
    memory();
    structs();
    return 0;
}
