"""Four threads that compute, hand work to each other, and sleep; prints how many ns all of it took."""

import queue
import sys
import threading
import time


def compute(steps):
    total = 0
    for i in range(steps):
        total += i * i % 7
    return total


def worker(inbox, outbox, rounds):
    for _ in range(rounds):
        steps = inbox.get()
        compute(steps)
        time.sleep(0.0005)
        outbox.put(steps)


def main():
    rounds = int(sys.argv[1])
    boxes = [queue.Queue() for _ in range(4)]
    threads = [threading.Thread(target=worker, args=(boxes[i], boxes[(i + 1) % 4], rounds))
               for i in range(4)]
    begin = time.monotonic_ns()
    for box in boxes:
        box.put(5_000)
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(f"{time.monotonic_ns() - begin:.1f}")


main()
