#!/usr/bin/env python3
"""A small neural network on a GPU, as a program that calls the CUDA driver: no framework, no numpy.

A multilayer perceptron (64 inputs, 32 hidden units, 10 classes) classifies batches of made-up
samples: weights come from a file and go to the device once; each batch is copied there, run through
three kernels and copied back. The first sample is computed in plain Python too, and has to agree.
"""

import argparse
import array
import ctypes
import math
import os
import random
import sys
import tempfile

import cuda_driver as cuda

INPUTS, HIDDEN, CLASSES = 64, 32, 10
FLOAT_BYTES = 4
LEAK_BYTES = 1 << 20
IMAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "mlp.kernels")
WEIGHTS = os.path.join(tempfile.gettempdir(), "mlbcc_mlp_weights.bin")
LIBRARY = os.environ.get("CUDA_LIBRARY", "libcuda.so.1")
LAYERS = [("hidden weights", INPUTS * HIDDEN), ("hidden bias", HIDDEN),
          ("output weights", HIDDEN * CLASSES), ("output bias", CLASSES)]
WEIGHT_COUNT = sum(count for _, count in LAYERS)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--batches", type=int, default=4, metavar="N", help="batches to run (default 4)")
    add("--batch-size", type=int, default=8, metavar="N", help="samples in a batch (default 8)")
    add("--weights", default=WEIGHTS, metavar="FILE",
        help="32-bit floats; the file is made if it does not exist (default %(default)s)")
    add("--cuda", default=LIBRARY, metavar="LIB",
        help="the driver library (default $CUDA_LIBRARY, or libcuda.so.1)")
    add("--log", metavar="FILE", help="write each driver call as a line of JSON")
    add("--leak", action="store_true",
        help="allocate {} bytes and never free them".format(LEAK_BYTES))
    options = parser.parse_args()
    if options.batches < 0 or options.batch_size < 1:
        parser.error("--batches must be at least 0 and --batch-size at least 1")
    return options


def make_weights(path):
    source = random.Random(1)
    values = array.array("f", (source.uniform(-0.3, 0.3) for _ in range(WEIGHT_COUNT)))
    partial = "{}.{}".format(path, os.getpid())
    with open(partial, "wb") as file:
        values.tofile(file)
    os.replace(partial, path)


def load_weights(path):
    """Returns one array of floats for each of LAYERS."""
    if not os.path.exists(path):
        make_weights(path)
    with open(path, "rb") as file:
        content = file.read()
    if len(content) != FLOAT_BYTES * WEIGHT_COUNT:
        raise OSError("{} has {} bytes, not the {} of this network's weights".format(
            path, len(content), FLOAT_BYTES * WEIGHT_COUNT))
    values = array.array("f", content)
    layers, start = [], 0
    for _, count in LAYERS:
        layers.append((ctypes.c_float * count)(*values[start:start + count]))
        start += count
    return layers


def make_batch(number, size):
    source = random.Random(1000 + number)
    count = size * INPUTS
    return (ctypes.c_float * count)(*(source.uniform(-1, 1) for _ in range(count)))


def affine(values, weights, bias):
    """values * weights + bias, with the weights in rows of len(bias)."""
    width = len(bias)
    return [bias[column] + sum(value * weights[row * width + column]
                               for row, value in enumerate(values))
            for column in range(width)]


def reference(sample, weights):
    """The network in plain Python: the probabilities of the classes for one sample."""
    hidden_weights, hidden_bias, output_weights, output_bias = weights
    hidden = [max(0.0, value) for value in affine(sample, hidden_weights, hidden_bias)]
    logits = affine(hidden, output_weights, output_bias)
    powers = [math.exp(x - max(logits)) for x in logits]
    return [x / sum(powers) for x in powers]


class Network:
    """The network on the device: its weights, and buffers for one batch."""

    def __init__(self, driver, weights, batch_size):
        self.driver, self.rows = driver, batch_size
        self.device = ctypes.c_int()
        self.context, self.module, self.stream = cuda.HANDLE(), cuda.HANDLE(), cuda.HANDLE()
        self.buffers = []
        self._open_device()
        self._load_kernels()
        driver.call("cuStreamCreate", self.stream, 0)
        self.weights = [self._upload(layer) for layer in weights]
        self.input = self.allocate(batch_size * INPUTS * FLOAT_BYTES)
        self.hidden = self.allocate(batch_size * HIDDEN * FLOAT_BYTES)
        self.logits = self.allocate(batch_size * CLASSES * FLOAT_BYTES)
        self.output = self.allocate(batch_size * CLASSES * FLOAT_BYTES)

    def _open_device(self):
        call = self.driver.call
        version, count, name = ctypes.c_int(), ctypes.c_int(), ctypes.create_string_buffer(64)
        call("cuInit", 0)
        call("cuDriverGetVersion", version)
        call("cuDeviceGetCount", count)
        call("cuDeviceGet", self.device, 0)
        call("cuDeviceGetName", name, len(name), self.device.value)
        major, minor = divmod(version.value, 1000)
        print("{}, driver {}.{}".format(name.value.decode(), major, minor // 10))
        call("cuCtxCreate_v2", self.context, 0, self.device.value)

    def _load_kernels(self):
        self.driver.call("cuModuleLoad", self.module, IMAGE.encode())
        self.kernels = {}
        for name in ("mlp_gemm_bias_relu", "mlp_gemm_bias", "softmax"):
            function = cuda.HANDLE()
            self.driver.call("cuModuleGetFunction", function, self.module, name.encode())
            self.kernels[name] = function

    def allocate(self, size):
        address = cuda.DevicePointer()
        self.driver.call("cuMemAlloc_v2", address, size)
        self.buffers.append(address.value)
        return address.value

    def _upload(self, values):
        address = self.allocate(ctypes.sizeof(values))
        self.driver.call("cuMemcpyHtoD_v2", address, values, ctypes.sizeof(values))
        return address

    def _launch(self, kernel, grid, block, *params):
        """Parameters are addresses on the device (Python integers) or sizes (c_int)."""
        values = [p if isinstance(p, ctypes.c_int) else cuda.DevicePointer(p) for p in params]
        pointers = (ctypes.c_void_p * len(values))(*(ctypes.addressof(v) for v in values))
        self.driver.call("cuLaunchKernel", self.kernels[kernel], grid[0], grid[1], 1,
                         block[0], block[1], 1, 0, self.stream, pointers, None)

    def run(self, batch):
        """Returns the probabilities of a batch, one row of CLASSES a sample."""
        rows, inputs, hidden, classes = map(ctypes.c_int, (self.rows, INPUTS, HIDDEN, CLASSES))
        blocks = (self.rows + 7) // 8
        hidden_weights, hidden_bias, output_weights, output_bias = self.weights
        call = self.driver.call
        result = (ctypes.c_float * (self.rows * CLASSES))()
        call("cuMemcpyHtoDAsync_v2", self.input, batch, ctypes.sizeof(batch), self.stream)
        self._launch("mlp_gemm_bias_relu", (1, blocks), (HIDDEN, 8),
                     self.input, hidden_weights, hidden_bias, self.hidden, rows, inputs, hidden)
        self._launch("mlp_gemm_bias", (1, blocks), (CLASSES, 8),
                     self.hidden, output_weights, output_bias, self.logits, rows, hidden, classes)
        self._launch("softmax", (blocks, 1), (8, 1), self.logits, self.output, rows, classes)
        call("cuStreamSynchronize", self.stream)
        call("cuMemcpyDtoH_v2", result, self.output, ctypes.sizeof(result))
        return [result[i:i + CLASSES] for i in range(0, len(result), CLASSES)]

    def close(self):
        for address in self.buffers:
            self.driver.call("cuMemFree_v2", address)
        self.driver.call("cuStreamDestroy_v2", self.stream)
        self.driver.call("cuModuleUnload", self.module)


def verify(sample, row, weights):
    expected = reference(sample, weights)
    worst = max(abs(a - b) for a, b in zip(expected, row))
    if worst > 1e-4:
        raise ArithmeticError("the device's result is off by {:g}".format(worst))
    print("verified: device and plain Python agree within {:.1g}".format(max(worst, 1e-9)))


def classify(driver, options):
    weights = load_weights(options.weights)
    network = Network(driver, weights, options.batch_size)
    for number in range(options.batches):
        batch = make_batch(number, options.batch_size)
        rows = network.run(batch)
        classes = [row.index(max(row)) for row in rows]
        print("batch {}: classes {}".format(number, " ".join(map(str, classes))))
        if number == 0:
            verify(batch[:INPUTS], rows[0], weights)
    driver.call("cuCtxSynchronize")
    if options.leak:
        network.allocate(LEAK_BYTES)
        network.buffers.pop()
        print("leaking {} bytes on purpose".format(LEAK_BYTES))
    network.close()
    # Destroying the context would free what leaked. Many programs leave it to their exit.
    if not options.leak:
        driver.call("cuCtxDestroy_v2", network.context)


def run(options, log):
    driver = cuda.Driver(options.cuda, log)
    try:
        classify(driver, options)
    finally:
        totals = driver.finish()
    print("{calls} driver calls, {bytes_allocated} bytes allocated, {bytes_leaked} leaked".format(
        **totals))


def main():
    options = parse_arguments()
    log = None
    try:
        log = open(options.log, "w") if options.log else None
        run(options, log)
    except (cuda.CudaError, OSError, ArithmeticError, AttributeError) as error:
        print("app.py: {}".format(error), file=sys.stderr)
        return 1
    finally:
        if log:
            log.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
