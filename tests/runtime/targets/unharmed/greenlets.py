"""Greenlets that change places in the middle of functions of a library: greenlets.py LIBRARY [gevent]"""

import ctypes
import sys

library = ctypes.PyDLL(sys.argv[1])
library.call_back_to.argtypes = [ctypes.py_object]
done = 0


def worker(number):
    global done
    for i in range(20):
        getattr(library, f"f{(number + i) % 10}")(i % 4)
        done += 1


if sys.argv[2:] == ["gevent"]:
    import gevent

    def change():
        gevent.sleep(0)

    library.call_back_to(change)
    gevent.joinall([gevent.spawn(worker, n) for n in range(8)])
else:
    import greenlet

    change = greenlet.getcurrent().switch
    library.call_back_to(change)
    workers = [greenlet.greenlet(worker) for _ in range(8)]
    while any(not one.dead for one in workers):
        for number, one in enumerate(workers):
            if not one.dead:
                one.switch(*([] if one else [number]))
print(done, "calls", flush=True)
library.told()
