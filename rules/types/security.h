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
/* ::ffff:1.2.3.4, an IPv4 address written as an IPv6 one */
struct finding_mapped {
    unsigned short family;
    unsigned char port_high, port_low;
    unsigned int flow;
    unsigned long long zeros;
    unsigned int ones;
    unsigned char ip[4];
};
/* The IPv4 addresses of both as numbers. */
struct finding_number {
    unsigned short family, port;
    unsigned int number;
};
struct finding_mapped_number {
    unsigned short family, port;
    unsigned int flow, before[3], number;
};
enum finding_address { MAPPED = 0xffff0000, METADATA = 0xfea9fea9 }; /* 169.254.169.254 */
enum finding_family { FAMILY_IPV4 = 2, FAMILY_IPV6 = 10 };

/* sys/mman.h, fcntl.h */
enum finding_flag { MAY_EXECUTE = 4, WITHOUT_FILE = 0x20, TO_WRITE = 3 };
enum finding_message { FAST_OPEN = 0x20000000 }; /* sys/socket.h */
