/* libbcc carries <linux/bpf.h> itself. */
#include "/virtual/include/bcc/bpf.h"
