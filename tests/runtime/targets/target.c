#include "target.h"

#include <string.h>

int take_small(signed char a, unsigned char b, short c, unsigned short d, int e, unsigned f) {
    return a + b + c + d + e + (int)f;
}

int64_t take_wide(long a, unsigned long b, long long c, unsigned long long d, size_t e, long f) {
    return a + (int64_t)b + c + (int64_t)d + (int64_t)e + f;
}

char take_char(char c, bool yes, bool no) {
    return yes && !no ? c : 'n';
}

int take_text(const char* name, const char* empty, const char* none, char* mutable_text) {
    mutable_text[0] = 'W'; /* seen at return, not at entry */
    return (int)(strlen(name) + strlen(empty)) + (none != NULL);
}

int take_cold_text(const char* text) {
    return text != NULL;
}
int take_long_text(const char* text) {
    return (int)strlen(text);
}
int take_bytes(const char* bytes) {
    return bytes[0];
}

int take_pointers(void* p, const void* q, int* none, session s, device_ptr d, callback f) {
    return (p != NULL) + (q != NULL) + (none != NULL) + (s != NULL) + (d != 0) + (f != NULL);
}

int fill_out(int* out, uint64_t* wide, struct point* where) {
    *out = -5;
    *wide = 0x1122334455667788u;
    if (where != NULL) {
        where->x = 30;
        where->y = -40;
    }
    return where == NULL;
}

int read_in(const int* in, const struct point* p, const uint8_t* bytes) {
    return in[2] + p->y + bytes[1];
}

int take_struct(const struct model* m) {
    return (int)m->rows + m->at.y + m->dims[2];
}
int64_t take_by_value(struct point p, int after) {
    return p.x + p.y + after;
}
int64_t take_pair(struct pair v, int after) {
    return v.first + v.second + v.third + after;
}
int64_t take_large(struct large v, int after) {
    return v.values[0] + v.values[4] + after;
}

int take_many(int a, int b, int c, int d, int e, int f, int64_t g, uint8_t h, const char* i,
              int j) {
    return a + b + c + d + e + f + (int)g + h + i[0] + j;
}

int take_mixed(int a, double x, int b, float y, int c) {
    return a + b + c + (int)(x + y);
}
enum color mix(enum color a, status_t b) {
    return b == STATUS_OK ? a : NONE;
}
bool is_even(int n) {
    return n % 2 == 0;
}

static volatile int sink;
void no_result(int n) {
    sink = n;
}
double half(double x, int n) {
    return x / n;
}

struct point make_point(int x, int y) {
    struct point p = {x, y};
    return p;
}

struct large make_large(int seed, int step) {
    struct large l;
    for (int i = 0; i < 5; i++) l.values[i] = seed + i * step;
    return l;
}

/* A probe reads memory as it is, and cannot bring in a page that nobody has touched yet. */
__attribute__((constructor)) static void touch_names(void) {
    volatile const char* name = "one";
    (void)*name;
}
const char* name_of(int n) {
    return n == 1 ? "one" : n == 2 ? "two" : NULL;
}
session make_session(int n) {
    return (session)(uintptr_t)(n * 4096);
}
int negative(int n) {
    return -n;
}
uint8_t low_byte(int n) {
    return (uint8_t)n;
}
int64_t big_number(int64_t n) {
    return -n;
}
uint64_t huge_number(uint64_t n) {
    return n;
}

__attribute__((noinline, used)) static int hidden_twist(int n) {
    sink = n;
    return n * 3;
}
int call_hidden(int n) {
    return hidden_twist(n) + 1;
}

int log_line(const char* format, ...) {
    return (int)strlen(format);
}
int echo_int(int n) {
    return n;
}
int other_name_of_echo(int n) __attribute__((alias("echo_int")));

int grow(int n) {
    return n;
}
int grow_v2(int64_t n) {
    return (int)n + 2;
}
int grow_v2_ptsz(int64_t n) {
    return (int)n + 3;
}
