/* What the runtime tests trace: for each kind of prototype a function that has it. */
#ifndef TARGET_H
#define TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum color { RED = 1, GREEN = 2, BLUE = 7, NONE = -1 };
typedef enum { STATUS_OK = 0, STATUS_FULL = 2, STATUS_BAD = 700 } status_t;

struct point {
    int x, y;
};
struct pair {
    int64_t first;
    uint32_t second;
    uint16_t third;
};
struct large {
    int64_t values[5];
};
struct flags {
    unsigned low : 3;
    unsigned mid : 7;
    int sign : 4;
};
struct model {
    const char* name;
    uint32_t rows;
    uint16_t kind;
    struct point at;
    struct point* next;
    int dims[4];
    char tag[12];
    struct flags flags;
    union {
        uint32_t word;
        uint8_t byte;
    };
};
typedef struct session_state* session; /* opaque */
typedef uint64_t device_ptr;
typedef int (*callback)(int);

int take_small(signed char a, unsigned char b, short c, unsigned short d, int e, unsigned f);
int64_t take_wide(long a, unsigned long b, long long c, unsigned long long d, size_t e, long f);
char take_char(char c, bool yes, bool no);
int take_text(const char* name, const char* empty, const char* none, char* mutable_text);
int take_cold_text(const char* text); /* on a page that nobody has read yet */
int take_long_text(const char* text);
int take_bytes(const char* bytes);
int take_pointers(void* p, const void* q, int* none, session s, device_ptr d, callback f);
int fill_out(int* out, uint64_t* wide, struct point* where);
int read_in(const int* in, const struct point* p, const uint8_t* bytes);
int take_struct(const struct model* m);
int64_t take_by_value(struct point p, int after);
int64_t take_pair(struct pair v, int after);
int64_t take_large(struct large v, int after);
int take_many(int a, int b, int c, int d, int e, int f, int64_t g, uint8_t h, const char* i, int j);
int take_mixed(int a, double x, int b, float y, int c);
enum color mix(enum color a, status_t b);
bool is_even(int n);
void no_result(int n);
double half(double x, int n);
struct point make_point(int x, int y);
struct large make_large(int seed, int step);
const char* name_of(int n);
session make_session(int n);
int negative(int n);
uint8_t low_byte(int n);
int64_t big_number(int64_t n);
uint64_t huge_number(uint64_t n);
int call_hidden(int n); /* calls the static function hidden_twist(n) */
int log_line(const char* format, ...);
int echo_int(int n);
int call_dirty(void); /* calls echo_int(42) with rubbish in the register's upper half */
int other_name_of_echo(int n);

int grow(int n);        /* an old form that nobody calls */
int grow_v2(int64_t n); /* what programs call */
int grow_v2_ptsz(int64_t n);

#endif
