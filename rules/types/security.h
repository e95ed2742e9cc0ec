/* What the rules of profile_security.rules look into: addresses of sockets, and what Python hands to its audit probe
   (the layout of CPython 3.8 to 3.11: an ASCII text begins 48 bytes behind the beginning of its object). */
struct finding_socket {
    unsigned short family;
    unsigned char port_high, port_low;
    unsigned char ip[4];
};
struct finding_socket6 {
    unsigned short family;
    unsigned char port_high, port_low;
    unsigned int flow;
    unsigned char ip[16];
};
enum finding_family { FAMILY_IPV4 = 2, FAMILY_IPV6 = 10 };

struct python_arguments {
    long references;
    void *type;
    long length;
    unsigned long item[2];
};
enum python_layout { PYTHON_TEXT = 48 };

/* sys/mman.h, fcntl.h */
enum finding_flag { MAY_EXECUTE = 4, WITHOUT_FILE = 0x20, TO_WRITE = 3 };
