// Ten functions in goroutines: stacks that grow, goroutines that go on in other threads, panics that are
// recovered from, runtime.Goexit, garbage collections.
package main

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
)

var calls, ends [10]int64

func innermost(n int) int {
	runtime.Gosched()
	switch {
	case n%7 == 3:
		panic("seven")
	case n%11 == 5:
		runtime.Goexit()
	}
	return n
}

func deeper(i, n, depth int) int {
	var room [64]int
	room[n&63] = depth
	if depth == 0 {
		return innermost(n) + room[0]*0
	}
	return table[(i+1)%10](n, depth-1) + room[(n+1)&63]*0 + 1
}

//go:noinline
func f0(n, depth int) int { atomic.AddInt64(&calls[0], 1); r := deeper(0, n, depth); atomic.AddInt64(&ends[0], 1); return r }

//go:noinline
func f1(n, depth int) int { atomic.AddInt64(&calls[1], 1); r := deeper(1, n, depth); atomic.AddInt64(&ends[1], 1); return r }

//go:noinline
func f2(n, depth int) int { atomic.AddInt64(&calls[2], 1); r := deeper(2, n, depth); atomic.AddInt64(&ends[2], 1); return r }

//go:noinline
func f3(n, depth int) int { atomic.AddInt64(&calls[3], 1); r := deeper(3, n, depth); atomic.AddInt64(&ends[3], 1); return r }

//go:noinline
func f4(n, depth int) int { atomic.AddInt64(&calls[4], 1); r := deeper(4, n, depth); atomic.AddInt64(&ends[4], 1); return r }

//go:noinline
func f5(n, depth int) int { atomic.AddInt64(&calls[5], 1); r := deeper(5, n, depth); atomic.AddInt64(&ends[5], 1); return r }

//go:noinline
func f6(n, depth int) int { atomic.AddInt64(&calls[6], 1); r := deeper(6, n, depth); atomic.AddInt64(&ends[6], 1); return r }

//go:noinline
func f7(n, depth int) int { atomic.AddInt64(&calls[7], 1); r := deeper(7, n, depth); atomic.AddInt64(&ends[7], 1); return r }

//go:noinline
func f8(n, depth int) int { atomic.AddInt64(&calls[8], 1); r := deeper(8, n, depth); atomic.AddInt64(&ends[8], 1); return r }

//go:noinline
func f9(n, depth int) int { atomic.AddInt64(&calls[9], 1); r := deeper(9, n, depth); atomic.AddInt64(&ends[9], 1); return r }

var table [10]func(int, int) int

func main() {
	table = [10]func(int, int) int{f0, f1, f2, f3, f4, f5, f6, f7, f8, f9}
	var all sync.WaitGroup
	var sum, panics int64
	for g := 0; g < 400; g++ {
		all.Add(1)
		go func(g int) {
			defer all.Done()
			defer func() {
				if recover() != nil {
					atomic.AddInt64(&panics, 1)
				}
			}()
			atomic.AddInt64(&sum, int64(table[g%10](g, g%50)))
		}(g)
		if g%100 == 0 {
			runtime.GC()
		}
	}
	all.Wait()
	fmt.Println("sum", sum, "panics", panics)
	for i := range calls {
		fmt.Printf("main.f%d %d %d\n", i, calls[i], ends[i])
	}
}
