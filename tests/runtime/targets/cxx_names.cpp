// Functions with names of C++: overloads, templates, constructors, namespaces; and names of C++
// that are only text, as those that programs give to handles.
#define KEEP __attribute__((noinline, used, visibility("default")))

namespace shop {

KEEP int price(int pieces) {
    return pieces * 3;
}
KEEP int price(int pieces, double) {
    return pieces * 2;
}
template <class T> KEEP T twice(T value) {
    return value + value;
}

class Basket {
public:
    KEEP explicit Basket(int size) : size_(size) {}
    KEEP ~Basket() {
        asm volatile("" : : "r"(this) : "memory");  // or gcc finds that it does nothing
    }
    KEEP int add(int more) { return size_ += more; }
    KEEP int operator()(int left) const { return size_ - left; }

private:
    int size_;
};

namespace inside {
KEEP int price(int pieces) {
    return pieces;
}
}  // namespace inside

}  // namespace shop

namespace {
KEEP int hidden(int value) {
    return value + 1;
}
}  // namespace

KEEP int global(int value) {
    return value;
}

extern "C" {
KEEP void give_name(long* handle, const char* name) {
    *handle = reinterpret_cast<long>(name);
}
KEEP void use(long handle) {
    asm volatile("" : : "r"(handle) : "memory");
}
}

int main() {
    int sum = shop::price(1) + shop::price(2) + shop::price(3, 1.0) + shop::inside::price(4);
    sum += shop::twice(5) + static_cast<int>(shop::twice(6L));
    shop::Basket basket(7);
    sum += basket.add(8) + basket.add(9) + basket(1) + hidden(2) + global(3);
    long kernel = 0, plain = 0;
    give_name(&kernel, "_Z6vecAddPKfS0_Pfi");
    give_name(&plain, "gemm");
    use(kernel);
    use(kernel);
    use(plain);
    return sum == 0;
}
