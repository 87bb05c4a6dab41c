"""Every operator of the linked LibTorch, and whether a TorchScript file may use it (plugins/torch_backend/torchscript/review).

`operator_review` prints the registry. This file lists by hand the operators that may be refused and the ones that must be,
independently of the lists and rules of the review.
"""
import collections
import os
import pathlib
import re
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from support import main  # noqa: E402

REVIEW = pathlib.Path(sys.argv.pop(1))

# Operators that may be refused: name or namespace → reason. All others must be allowed.
MAY_BE_REFUSED = {
    r"aten::(save|from_file)": "files",
    r"(c10d|_c10d_functional|_c10d_functional_autograd|symm_mem|_dtensor)::\w+": "other processes",
    r"aten::get_gradients": "other processes",
    r"prim::IgnoredPythonOp": "Python",
    r"aten::(set_data|_cudnn_init_dropout_state|_tensor_to_list)": "memory by address",
    r"aten::_nested_view_from_(buffer|jagged)(_copy)?": "memory by address",
    r"mkldnn::(data_ptr|_get_mkldnn_serialized_md)": "memory by address",
    r"inductor::(_alloc_from_pool|_reinterpret_tensor)": "memory by address",
    r"onnx::(Reshape|Shape)": "memory by address",
    r"aten::set_?\.source_Storage\w*": "a storage, which no program has",
    r"aten::record_stream": "a stream of a GPU",
    r"aten::_cufft_\w+": "a cache of a GPU",
    r"aten::(backward|grad)|prim::grad|inductor::accumulate_grad_": "training",
    r"prim::(AddStatValue|profile|profile_ivalue)|profiler::_call_end_callbacks_on_jit_fut": "profiling",
    r"(static_runtime|inductor_prims)::\w+": "added by an optimiser",
    r"prim::(Autograd|Bail|MKLDNN|mkldnn|oneDNN|TensorExpr|Static|MM|Var)\w+": "added by an optimiser",
    r"prim::(BroadcastMKLDNNTensors|ChunkSizes|ConstantChunk|ConstantMKLDNNTensor)": "added by an optimiser",
    r"prim::(DifferentiableGraph|FallbackGraph|FusedConcat|FusionGroup|Guard|RequiresGradCheck|TypeCheck)": "added by an optimiser",
    r"_test::get_first|aten::_test_(string_default|ambiguous_defaults)": "a test of LibTorch's own",
    r"aten::_get_cpu_capability": "a text about this machine",
    # Found by `operator_review --call`; no layer calls them.
    r"_quantized::wrapped_fbgemm_linear_fp16_weight|quantized::embedding_bag_byte_unpack": "ends the process",
    r"aten::(_nnpack_spatial_convolution|_stack|align_tensors|quantized_lstm_cell)": "ends the process",
    r"aten::(_thnn_differentiable_(gru|lstm)_cell|fractional_max_pool2d|matrix_exp|reflection_pad1d)_backward": "ends the process",
}

# Words that the schema of a harmless operator does not contain.
DANGEROUS = re.compile(
    r"(?<!pro)file|str path\b|\burl|socket|\bipc|process_?group|ProcessGroup|group_name|rpc|[Pp]ython|pickle|\bexec|\bsave\b|\bload\b"
    r"|data_ptr|\bptr|Storage source|\bStream\b|from_buffer|view_from")

# Legitimate layers in which an older LibTorch ends with a signal for invalid arguments. In tmeter this ends a worker, and the user
# gets a message. Hidden states are checked first (run/recurrent_check.cpp).
DEADLY_IN_OLDER = {"aten::gru_cell", "aten::lstm_cell", "aten::reflection_pad3d", "aten::reflection_pad3d.out", "aten::mvlgamma_",
                   "aten::_remove_batch_dim", "quantized::embedding_bag_byte_prepack"}

Operator = collections.namedtuple("Operator", "kind name schema reason")


def printed(*arguments):
    # aten::_add_batch_dim of a scalar makes LibTorch allocate 2**64 - 16 bytes, whose failure it reports.
    options = {name: f"{os.environ.get(name, '')} allocator_may_return_null=1" for name in ("ASAN_OPTIONS", "TSAN_OPTIONS")}
    env = {**os.environ, **options}
    done = subprocess.run([REVIEW, *arguments], capture_output=True, text=True, check=True, timeout=600, env=env)
    return [Operator(*line.split("\t")) for line in done.stdout.splitlines()]


class Registry(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.all = printed()
        cls.refused = [op for op in cls.all if op.reason]
        cls.allowed = {op.name for op in cls.all if not op.reason}

    def test_the_registry_is_whole(self):
        kinds = collections.Counter(op.kind for op in self.all)
        self.assertGreater(kinds["dispatched"], 3000)
        self.assertGreater(kinds["primitive"], 700)

    def test_no_operator_is_refused_without_need(self):
        may = [re.compile(rf"(?:{pattern})(?:\.\w+)?") for pattern in MAY_BE_REFUSED]
        without_need = [op for op in self.refused if not any(m.fullmatch(op.name) for m in may)]
        self.assertEqual([f"{op.schema}: {op.reason}" for op in without_need], [])

    def test_no_dangerous_operator_is_allowed(self):
        dangerous = [op.schema for op in self.all if not op.reason and DANGEROUS.search(op.schema)]
        self.assertEqual(dangerous, [])

    def test_types_that_are_not_values_are_refused(self):
        for op in self.all:
            if re.search(r"\b(Storage|Stream|Future|PyObject|Capsule|ProcessGroup)\b", op.schema.split(" -> ")[0]):
                with self.subTest(op=op.schema):
                    self.assertTrue(op.reason or op.name in ("aten::wait",))

    def test_operators_that_models_use_are_allowed(self):
        for name in ("aten::dim", "aten::numel", "aten::size", "aten::is_contiguous", "aten::storage_offset", "aten::get_device",
                     "aten::_grouped_mm", "aten::linalg_solve_triangular", "aten::resolve_conj", "aten::scaled_dot_product_attention",
                     "aten::einsum", "aten::pad", "aten::stft.center", "aten::div.Tensor_mode", "aten::scatter_reduce.two",
                     "quantized::linear", "quantized::conv2d.new", "aten::quantized_gru.input", "aten::linalg_svd", "aten::fft_rfft"):
            with self.subTest(op=name):
                if not any(op.name == name for op in self.all):
                    self.assertIn(name, ("aten::_grouped_mm",))  # of torch 2.8 and later
                else:
                    self.assertIn(name, self.allowed)

    def test_calls_without_values_end_no_process(self):
        deadly = printed("--call")
        self.assertEqual([f"{op.kind}: {op.schema}" for op in deadly if op.name not in DEADLY_IN_OLDER], [])


if __name__ == "__main__":
    main()
