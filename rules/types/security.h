/* What the rules of profile_security.rules look into: addresses of sockets. */
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

/* sys/mman.h, fcntl.h */
enum finding_flag { MAY_EXECUTE = 4, WITHOUT_FILE = 0x20, TO_WRITE = 3 };
