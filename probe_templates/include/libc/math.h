/* The machine's, if it has them: an interface seldom needs more of it than that it is there. */
#if __has_include_next(<math.h>)
#include_next <math.h>
#endif
