"""The simulated driver's graphs, by its own books and by what its kernels compute."""

import ctypes
import unittest

from harness.simulated import Node, in_child, pointers

ILLEGAL_STATE, UNMATCHED, CAPTURING = 401, 903, 1


def floats(cu, values):
    """Device memory that holds `values`."""
    array = (ctypes.c_float * len(values))(*values)
    address = cu.out("cuMemAlloc_v2", ctypes.sizeof(array))
    cu.cuMemcpyHtoD_v2(address, array, ctypes.sizeof(array))
    return address


def read(cu, address, count):
    array = (ctypes.c_float * count)()
    cu.cuMemcpyDtoH_v2(array, address, ctypes.sizeof(array))
    return list(array)


def captured(cu, work, suffix=""):
    """The graph that `work(stream)` makes."""
    stream = cu.out("cuStreamCreate", 0)
    cu.__getattr__("cuStreamBeginCapture_v2" + suffix)(stream, 0)
    work(stream)
    graph = ctypes.c_uint64()
    cu.__getattr__("cuStreamEndCapture" + suffix)(stream, ctypes.byref(graph))
    return graph.value


def node_types(cu, graph):
    count = ctypes.c_uint64()
    cu.cuGraphGetNodes(graph, None, ctypes.byref(count))
    nodes = (ctypes.c_uint64 * count.value)()
    cu.cuGraphGetNodes(graph, nodes, ctypes.byref(count))
    types = []
    for node in nodes:
        kind = ctypes.c_int()
        cu.cuGraphNodeGetType(node, ctypes.byref(kind))
        types.append(kind.value)
    return types


class Graphs(unittest.TestCase):
    def test_what_is_captured_runs_with_the_graph(self):
        def work(cu):
            kernels = cu.start()
            a, b, out = floats(cu, [1, 2]), floats(cu, [10, 20]), floats(cu, [0, 0])
            params = pointers(a, b, out, 2)

            def capture(stream):
                state = ctypes.c_int()
                cu.cuStreamIsCapturing(stream, ctypes.byref(state))
                assert state.value == CAPTURING
                cu.cuLaunchKernel(kernels["vector_add"], 1, 1, 1, 2, 1, 1, 0, stream, params, None)
                cu.launch(kernels["nothing"], stream, "cuLaunchKernel_ptsz")

            graph = captured(cu, capture)
            before = read(cu, out, 2)
            executable = cu.out("cuGraphInstantiateWithFlags", graph, 0)
            cu.cuGraphLaunch(executable, 0)
            cu.cuGraphLaunch_ptsz(executable, 0)
            after = read(cu, out, 2)
            cu.cuGraphExecDestroy(executable)
            types = node_types(cu, graph)
            cu.cuGraphDestroy(graph)
            return before, after, types, cu.books()

        before, after, types, books = in_child(work)
        self.assertEqual((before, after, types), ([0, 0], [11, 22], [0, 0]))
        counts = {key: books[key] for key in ("launches", "captured", "kernels_run",
                                              "graph_launches", "graph_kernels", "kernels")}
        self.assertEqual(counts, {"launches": 2, "captured": 2, "kernels_run": 4,
                                  "graph_launches": 2, "graph_kernels": 4,
                                  "kernels": {"nothing": 2, "vector_add": 2}})
        self.assertEqual(books["failures"], {})

    def test_a_stream_joins_a_capture_by_an_event(self):
        def work(cu):
            kernels = cu.start()
            side, event = cu.out("cuStreamCreate", 1), cu.out("cuEventCreate", 2)
            unmatched = []

            def capture(stream):
                cu.cuEventRecord(event, stream)
                cu.cuStreamWaitEvent(side, event, 0)
                cu.launch(kernels["nothing"], side)
                graph = ctypes.c_uint64()
                unmatched.append(cu.result("cuStreamEndCapture", side, ctypes.byref(graph)))

            graph = captured(cu, capture, "_ptsz")
            cu.launch(kernels["nothing"], side)  # no longer captured
            return unmatched, node_types(cu, graph), cu.books()

        unmatched, types, books = in_child(work)
        self.assertEqual(unmatched, [UNMATCHED])
        self.assertEqual(types, [7, 6, 0])
        self.assertEqual((books["captured"], books["kernels_run"]), (1, 1))
        self.assertEqual(books["failures"], {"cuStreamEndCapture": 1})

    def test_a_graph_made_of_nodes(self):
        def work(cu):
            kernels = cu.start()
            a, out = floats(cu, [1, 2]), floats(cu, [0, 0])
            graph = cu.out("cuGraphCreate", 0)
            zero = (ctypes.c_uint64 * 5)(a, 8, 4 << 32, 2, 1)  # CUDA_MEMSET_NODE_PARAMS: zeros to a
            copy = (ctypes.c_uint64 * 25)()                    # CUDA_MEMCPY3D: a to out
            copy[4], copy[6], copy[15], copy[17] = 2, a, 2, out
            copy[22], copy[23], copy[24] = 8, 1, 1
            params = pointers(a, a, a, 2)
            node = Node(kernels["vector_add"], 1, 1, 1, 2, 1, 1, 0, ctypes.addressof(params))
            add = cu.out("cuGraphAddKernelNode_v2", graph, None, 0, ctypes.byref(node))
            cu.out("cuGraphAddMemcpyNode", graph, None, 0, copy, cu.context)
            cu.out("cuGraphAddMemsetNode", graph, None, 0, zero, cu.context)
            empty = cu.out("cuGraphAddEmptyNode", graph, None, 0)
            types = node_types(cu, graph)
            cu.cuGraphDestroyNode(empty)
            executable = cu.out("cuGraphInstantiate_v2", graph, None, None, 0)
            cu.cuGraphLaunch(executable, 0)
            first = read(cu, a, 2), read(cu, out, 2)
            node.func = kernels["nothing"]
            cu.cuGraphExecKernelNodeSetParams_v2(executable, add, ctypes.byref(node))
            cu.cuGraphLaunch(executable, 0)
            return types, len(node_types(cu, graph)), first, read(cu, out, 2), cu.books()["kernels"]

        types, left, first, second, kernels = in_child(work)
        self.assertEqual((types, left), ([0, 1, 2, 5], 3))
        self.assertEqual(first, [[0, 0], [2, 4]])
        self.assertEqual(second, [0, 0])
        self.assertEqual(kernels, {"nothing": 1, "vector_add": 1})

    def test_the_kernel_of_a_library_as_a_node(self):
        def work(cu):
            cu.start()
            library = cu.out("cuLibraryLoadData", b"cuda_sim image\nnothing\n", None, None, 0, None,
                             None, 0)
            kernel = cu.out("cuLibraryGetKernel", library, b"nothing")
            node = Node(0, 1, 1, 1, 1, 1, 1, 0, None, None, kernel)
            graph, child = cu.out("cuGraphCreate", 0), cu.out("cuGraphCreate", 0)
            cu.out("cuGraphAddKernelNode_v2", child, None, 0, ctypes.byref(node))
            first_form = cu.result("cuGraphAddKernelNode", ctypes.byref(ctypes.c_uint64()), child,
                                   None, 0, ctypes.byref(node))
            cu.out("cuGraphAddChildGraphNode", graph, None, 0, child)
            cu.cuGraphLaunch(cu.out("cuGraphInstantiateWithFlags", graph, 0), 0)
            books = cu.books()
            return first_form, node_types(cu, graph), books["graph_launches"], books["graph_kernels"]

        self.assertEqual(in_child(work), [1, [4], 1, 1])

    def test_what_cannot_be_captured(self):
        def work(cu):
            cu.start()
            stream, results = cu.out("cuStreamCreate", 0), []
            graph = ctypes.c_uint64()
            results.append(cu.result("cuStreamEndCapture", stream, ctypes.byref(graph)))
            cu.cuStreamBeginCapture(stream)
            results.append(cu.result("cuStreamBeginCapture", stream))
            results.append(cu.result("cuStreamSynchronize", stream))
            results.append(cu.result("cuStreamBeginCapture_v2", 0, 0))
            return results

        self.assertEqual(in_child(work), [ILLEGAL_STATE, ILLEGAL_STATE, 900, 900])


if __name__ == "__main__":
    unittest.main()
