// Ten functions that panics leave, caught by catch_unwind, in four threads.
use std::panic;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};

const ZERO: AtomicI64 = AtomicI64::new(0);
static CALLS: [AtomicI64; 10] = [ZERO; 10];
static ENDS: [AtomicI64; 10] = [ZERO; 10];

fn deeper(i: usize, n: i64, depth: i64) -> i64 {
    if depth > 0 {
        return TABLE[(i + 1) % 10](n, depth - 1) + 1;
    }
    if n % 5 == 3 {
        panic!("five");
    }
    let text = format!("{}", n);
    text.len() as i64 + n
}

macro_rules! function {
    ($name:ident, $i:expr) => {
        #[no_mangle]
        #[inline(never)]
        pub fn $name(n: i64, depth: i64) -> i64 {
            CALLS[$i].fetch_add(1, Relaxed);
            let result = deeper($i, n, depth);
            ENDS[$i].fetch_add(1, Relaxed);
            result
        }
    };
}
function!(f0, 0);
function!(f1, 1);
function!(f2, 2);
function!(f3, 3);
function!(f4, 4);
function!(f5, 5);
function!(f6, 6);
function!(f7, 7);
function!(f8, 8);
function!(f9, 9);
static TABLE: [fn(i64, i64) -> i64; 10] = [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9];

fn main() {
    panic::set_hook(Box::new(|_| {}));
    let threads: Vec<_> = (0..4)
        .map(|t| {
            std::thread::spawn(move || {
                let (mut sum, mut panics) = (0, 0);
                for i in 0..500 {
                    match panic::catch_unwind(|| TABLE[i as usize % 10](i + t, i % 9)) {
                        Ok(value) => sum += value,
                        Err(_) => panics += 1,
                    }
                }
                (sum, panics)
            })
        })
        .collect();
    let (mut sum, mut panics) = (0, 0);
    for one in threads {
        let (s, p) = one.join().unwrap();
        sum += s;
        panics += p;
    }
    println!("sum {} panics {}", sum, panics);
    for i in 0..10 {
        println!("f{} {} {}", i, CALLS[i].load(Relaxed), ENDS[i].load(Relaxed));
    }
}
