// Ten functions that call back into Python, where a greenlet may go on with another one's stack.
extern void* PyObject_CallNoArgs(void* callable);
extern void Py_DecRef(void* object);

static void* callable;
void call_back_to(void* object) {
    callable = object;
}

static long deeper(int i, long n);
#define BODY(i, n) deeper(i, n)
#include "books.h"

FUNCTIONS();
TABLE();

static long deeper(int i, long n) {
    if (n > 0) return table[(i + 1) % 10](n - 1) + 1;
    void* result = PyObject_CallNoArgs(callable);
    if (result) Py_DecRef(result);
    return n;
}
void told(void) {
    tell_books();
    fflush(stdout);
}
