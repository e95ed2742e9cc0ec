// What a thread does over TCP: it connects, sends and receives. A connection takes from the first packet
// to its answer, or to the failure; sending and receiving as long as the system call, waiting included.
// What is received by splice() is not seen.
//
//= probe net:tcp completion
//= task_tracepoint raw_syscalls:sys_enter tcp_call_begins
//= task_tracepoint sock:inet_sock_set_state tcp_connects
//= task_tracepoint sock:inet_sock_set_state tcp_connected
//= task_tracepoint sock:sock_send_length tcp_sends
//= task_tracepoint sock:sock_recv_length tcp_receives
//= goes_on tcp_connecting tcp_still_connects
//= offset sock:inet_sock_set_state.skaddr
//= offset sock:inet_sock_set_state.oldstate
//= offset sock:inet_sock_set_state.newstate
//= offset sock:sock_send_length.sk
//= offset sock:sock_send_length.ret
//= offset sock:sock_send_length.flags
//= offset sock_common.skc_family
//= offset sock_common.skc_dport
//= offset sock_common.skc_daddr
//= offset sock_common.skc_rcv_saddr
//= offset sock_common.skc_v6_daddr
//= offset sock_common.skc_v6_rcv_saddr
//= offset sock.sk_protocol
//= offset sock.sk_err
//= offset inet_sock.inet_sport
//= fields
enum tcp_operation { tcp_connect = 1, tcp_send = 2, tcp_receive = 3 };
struct net_tcp {
    enum tcp_operation operation;
    int error;  // errno, 0: none; 103 (ECONNABORTED): given up, closed before the other side answered;
                // 115 (EINPROGRESS): not answered yet
    char remote[40];
    char local[40];
    unsigned short remote_port, local_port;
    unsigned long long bytes;  // sent or received
};
//= programs
#define TCP_ESTABLISHED 1
#define TCP_SYN_SENT 2
#define TCP_CLOSE 7
#define TCP_GIVEN_UP 103
#define TCP_NOT_ANSWERED 115
#define TCP_IPV4 2
#define TCP_IPV6 10
#define TCP_PROTOCOL 6

// What happens, in memory of its own: BPF's stack has no room for it.
struct tcp_moment {
    u64 since;
    struct identity id;
    struct net_tcp fields;
};
BPF_F_TABLE("hash", u64, struct tcp_moment, tcp_connecting, 65536, BPF_F_NO_PREALLOC);  // by sock
BPF_TABLE("lru_hash", u32, struct tcp_moment, tcp_calls, 16384);  // by thread

#define TCP_READ(to, sock, offset) bpf_probe_read_kernel(&(to), sizeof(to), (void *)((sock) + (offset)))

// Without branches, of which the verifier would follow all combinations: a digit that is not wanted is
// written over by the next.
static __always_inline u32 tcp_put_number(char *to, u32 at, u32 value) {
    to[at & 15] = '0' + value / 100;
    at += (99 - value) >> 31;
    to[at & 15] = '0' + value / 10 % 10;
    at += (9 - value) >> 31;
    to[at & 15] = '0' + value % 10;
    return at + 1;
}

static __always_inline void tcp_put_ipv4(char *to, u32 address) {
    u32 at = tcp_put_number(to, 0, address & 0xff);
    to[at++ & 15] = '.';
    at = tcp_put_number(to, at, address >> 8 & 0xff);
    to[at++ & 15] = '.';
    at = tcp_put_number(to, at, address >> 16 & 0xff);
    to[at++ & 15] = '.';
    tcp_put_number(to, at, address >> 24);
}

// In full, but for ::1; that of an IPv4 host is shown as such.
static __always_inline void tcp_put_ipv6(char *to, const u8 *address) {
    const u32 *words = (const u32 *)address;
    if (words[0] == 0 && words[1] == 0 && words[2] == 0xffff0000) return tcp_put_ipv4(to, words[3]);
    if (words[0] == 0 && words[1] == 0 && words[2] == 0 && words[3] == 0x01000000) {
        to[0] = to[1] = ':';
        to[2] = '1';
        return;
    }
#pragma unroll
    for (int i = 0; i < 16; i++) {
        int at = 2 * i + i / 2;
        u32 high = address[i] >> 4, low = address[i] & 15;
        to[at] = '0' + high + ((9 - high) >> 31) * 39;  // 39: from behind '9' to 'a'
        to[at + 1] = '0' + low + ((9 - low) >> 31) * 39;
        if (i % 2 == 1 && i < 15) to[at + 2] = ':';
    }
}

static __always_inline void tcp_addresses(u64 sock, struct net_tcp *fields) {
    u16 family = 0, port = 0;
    TCP_READ(family, sock, MLBCC_OFFSET_sock_common_skc_family);
    TCP_READ(port, sock, MLBCC_OFFSET_inet_sock_inet_sport);  // skc_num is 0 once it is closed
    fields->local_port = port >> 8 | port << 8;
    TCP_READ(port, sock, MLBCC_OFFSET_sock_common_skc_dport);
    fields->remote_port = port >> 8 | port << 8;
    if (family == TCP_IPV4) {
        u32 address = 0;
        TCP_READ(address, sock, MLBCC_OFFSET_sock_common_skc_daddr);
        tcp_put_ipv4(fields->remote, address);
        TCP_READ(address, sock, MLBCC_OFFSET_sock_common_skc_rcv_saddr);
        tcp_put_ipv4(fields->local, address);
    } else {
        u32 address[4] = {};
        TCP_READ(address, sock, MLBCC_OFFSET_sock_common_skc_v6_daddr);
        tcp_put_ipv6(fields->remote, (u8 *)address);
        TCP_READ(address, sock, MLBCC_OFFSET_sock_common_skc_v6_rcv_saddr);
        tcp_put_ipv6(fields->local, (u8 *)address);
    }
}

static __always_inline int tcp_is(u64 sock) {
    u16 family = 0, protocol = 0;
    TCP_READ(family, sock, MLBCC_OFFSET_sock_common_skc_family);
    TCP_READ(protocol, sock, MLBCC_OFFSET_sock_sk_protocol);
    return protocol == TCP_PROTOCOL && (family == TCP_IPV4 || family == TCP_IPV6);
}

#define TCP_CHANGED(at) MLBCC_POINT(at, u64, 0, MLBCC_OFFSET_inet_sock_set_state_skaddr)
#define TCP_BEFORE(at) MLBCC_POINT(at, int, 1, MLBCC_OFFSET_inet_sock_set_state_oldstate)
#define TCP_AFTER(at) MLBCC_POINT(at, int, 2, MLBCC_OFFSET_inet_sock_set_state_newstate)
int tcp_connects(struct bpf_raw_tracepoint_args *at) {
    u64 sock = TCP_CHANGED(at);
    struct call call MLBCC_UNSET;
    if (TCP_AFTER(at) != TCP_SYN_SENT || !tcp_is(sock) || !mlbcc_admit(&call)) return 0;
    struct tcp_moment begun = {.since = call.now, .id = call.id};
    tcp_connecting.update(&sock, &begun);
    return 0;
}

static __always_inline int tcp_tell(void *at, u64 sock, int error, u64 goes_on) {
    struct tcp_moment *it = tcp_connecting.lookup(&sock);
    struct call call MLBCC_UNSET;
    call.all = mlbcc_accounts();
    if (!it || !call.all) return 0;
    call.id = it->id;
    call.now = bpf_ktime_get_ns();
    call.start = it->since;
    call.taken = goes_on;
    it->fields.operation = tcp_connect;
    it->fields.error = error;
    tcp_addresses(sock, &it->fields);
    fire_net_tcp(at, &call, &it->fields);
    tcp_connecting.delete(&sock);
    return 1;
}

// Most often in an interrupt, in whatever thread runs then.
int tcp_connected(struct bpf_raw_tracepoint_args *at) {
    u64 sock = TCP_CHANGED(at);
    if (TCP_BEFORE(at) != TCP_SYN_SENT) return 0;
    int error = 0;
    if (TCP_AFTER(at) != TCP_ESTABLISHED) TCP_READ(error, sock, MLBCC_OFFSET_sock_sk_err);
    if (TCP_AFTER(at) == TCP_CLOSE && error == 0) error = TCP_GIVEN_UP;
    tcp_tell(at, sock, error, 0);
    return 0;
}

int tcp_still_connects(struct bpf_raw_tracepoint_args *at) {
    return tcp_tell(at, MLBCC_TOLD_KEY(at), TCP_NOT_ANSWERED, MLBCC_GOES_ON);
}

static __always_inline struct tcp_moment *tcp_thread(u32 thread, u64 now) {
    struct tcp_moment *it = tcp_calls.lookup(&thread);
    if (it) return it;
    struct tcp_moment begun = {.since = now};
    tcp_calls.update(&thread, &begun);
    return tcp_calls.lookup(&thread);
}

int tcp_call_begins(struct bpf_raw_tracepoint_args *at) {
    struct call call MLBCC_UNSET;
    if (!mlbcc_admit(&call)) return 0;
    struct tcp_moment *it = tcp_thread(call.id.thread, call.now);
    if (it) it->since = call.now;
    return 0;
}

static __always_inline int tcp_moves(struct bpf_raw_tracepoint_args *at, u32 operation) {
    u64 sock = MLBCC_POINT(at, u64, 0, MLBCC_OFFSET_sock_send_length_sk);
    int result = MLBCC_POINT(at, int, 1, MLBCC_OFFSET_sock_send_length_ret);
    struct call call MLBCC_UNSET;
    if (!tcp_is(sock) || !mlbcc_admit(&call)) return 0;
    struct tcp_moment *it = tcp_thread(call.id.thread, call.now);
    if (!it) return 0;
    call.start = it->since;
    __builtin_memset(&it->fields, 0, sizeof(it->fields));
    it->fields.operation = operation;
    if (result < 0) it->fields.error = -result;
    else it->fields.bytes = result;
    tcp_addresses(sock, &it->fields);
    call.taken = take_stack_net_tcp(at, &call);
    return fire_net_tcp(at, &call, &it->fields);
}

int tcp_sends(struct bpf_raw_tracepoint_args *at) { return tcp_moves(at, tcp_send); }
// What is only looked at (MSG_PEEK) is received later.
int tcp_receives(struct bpf_raw_tracepoint_args *at) {
    int flags = MLBCC_POINT(at, int, 2, MLBCC_OFFSET_sock_send_length_flags);
    return flags & 2 ? 0 : tcp_moves(at, tcp_receive);
}
