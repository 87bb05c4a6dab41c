"""Sizes that tmeter.export.kernels takes from a rule or an earlier call equal those of torch's own fake tensors."""

import itertools

import pytest
import torch
from torch._subclasses import FakeTensor, FakeTensorMode

from tmeter.export import kernels
from tmeter.export.operators import operator_of

aten = torch.ops.aten
SHAPES = [(), (1,), (3,), (0, 3), (1, 3), (4, 1), (2, 3, 4), (1, 3, 1, 4), (5, 1, 2)]


def tensors(mode, shape, dtype=torch.float32):
    """Tensors in order, reversed, with gaps, with an odd stride for a size of one, and with a gradient."""
    with mode:
        plain = torch.empty(shape, dtype=dtype)
        yield plain
        if len(shape) > 1:
            yield torch.empty(shape[::-1], dtype=dtype).permute(*reversed(range(len(shape))))
            yield torch.empty((*shape[:-1], 2 * shape[-1]), dtype=dtype)[..., ::2]
        if len(shape) == 4:
            yield torch.empty(shape, dtype=dtype).to(memory_format=torch.channels_last)
        if 1 in shape:
            strides = [7 if n == 1 else s for n, s in zip(shape, plain.stride())]
            yield torch.empty_strided(shape, strides, dtype=dtype)
        if dtype.is_floating_point:
            yield torch.empty(shape, dtype=dtype).requires_grad_()


def described(result):
    if isinstance(result, (tuple, list)):
        return [described(r) for r in result]
    assert isinstance(result, FakeTensor)
    return result.shape, result.stride(), result.dtype, result.fake_device, result.requires_grad


def assert_as_torch(mode, own, operator, *args, **kwargs):
    """Calls twice: the second result comes from the cache."""
    with mode:
        try:
            expected = described(operator(*args, **kwargs))
        except Exception as error:
            with pytest.raises(type(error)):
                own.result(operator_of(operator), args, kwargs)
            return
        for _ in range(2):
            assert described(own.result(operator_of(operator), args, kwargs)) == expected, (operator, args, kwargs)


@pytest.fixture
def mode():
    return FakeTensorMode(allow_non_fake_inputs=True)


UNARY = "abs elu exp gelu hardsigmoid hardswish hardtanh leaky_relu log neg relu relu6 rsqrt sigmoid silu softplus sqrt tanh"


@pytest.mark.parametrize("name", UNARY.split())
def test_operators_of_one_tensor(mode, name):
    own = kernels.Kernels(mode)
    for shape, dtype in itertools.product(SHAPES, (torch.float32, torch.bfloat16, torch.int64)):
        for x in tensors(mode, shape, dtype):
            assert_as_torch(mode, own, getattr(aten, name).default, x)


@pytest.mark.parametrize("operator", [aten.add.Tensor, aten.mul.Tensor, aten.div.Tensor, aten.maximum.default, aten.pow.Tensor_Tensor])
def test_operators_of_two_tensors(mode, operator):
    own = kernels.Kernels(mode)
    for one, other in itertools.product(SHAPES, SHAPES):
        for x, y in itertools.product(tensors(mode, one), tensors(mode, other)):
            assert_as_torch(mode, own, operator, x, y)
    for dtype, other in itertools.product((torch.float16, torch.int32), (torch.float32, torch.int64, torch.bool)):
        for x, y in itertools.product(tensors(mode, (2, 3, 4), dtype), tensors(mode, (4,), other)):
            assert_as_torch(mode, own, operator, x, y)


@pytest.mark.parametrize("operator", [aten.add.Tensor, aten.mul.Tensor, aten.div.Tensor, aten.pow.Tensor_Scalar])
def test_a_tensor_and_a_number(mode, operator):
    own = kernels.Kernels(mode)
    for shape, dtype in itertools.product(SHAPES, (torch.float16, torch.int64)):
        for x, number in itertools.product(tensors(mode, shape, dtype), (2, 2.0, True)):
            assert_as_torch(mode, own, operator, x, number)


def test_linear(mode):
    own = kernels.Kernels(mode)
    with mode:
        weight, bias = torch.empty(5, 4), torch.empty(5)
        turned = torch.empty(4, 5).t()
    for shape in (*SHAPES, (4,), (2, 4), (1, 4), (2, 1, 4), (2, 3, 1, 4)):
        for x in tensors(mode, shape):
            for w, b in itertools.product((weight, turned, bias), (None, bias)):
                assert_as_torch(mode, own, aten.linear.default, x, w, b)


def test_norms(mode):
    own = kernels.Kernels(mode)
    with mode:
        four, three = torch.empty(4), torch.empty(3)
        half = torch.empty(4, dtype=torch.float16)
    for x, training in itertools.product(tensors(mode, (2, 3, 4)), (False, True)):
        assert_as_torch(mode, own, aten.batch_norm.default, x, three, three, three, three, training, 0.1, 1e-5, True)
        assert_as_torch(mode, own, aten.batch_norm.default, x, four, four, four, four, training, 0.1, 1e-5, True)
        assert_as_torch(mode, own, aten.layer_norm.default, x, [4], four, four, 1e-5, True)
        assert_as_torch(mode, own, aten.layer_norm.default, x, [4], half, half, 1e-5, True)
        assert_as_torch(mode, own, aten.layer_norm.default, x, [3, 4], None, None, 1e-5, True)
        assert_as_torch(mode, own, aten.layer_norm.default, x, [3], three, three, 1e-5, True)
        assert_as_torch(mode, own, aten.group_norm.default, x, 3, three, three, 1e-5, True)
        assert_as_torch(mode, own, aten.group_norm.default, x, 2, three, three, 1e-5, True)
    for shape in ((2, 3, 4, 5), (1, 3, 4, 5), (2, 1, 4, 5), (2, 3, 1, 1)):
        with mode:
            channels, last = torch.empty(shape[1]), torch.empty(shape[-1])
        for x, training in itertools.product(tensors(mode, shape), (False, True)):
            own_norm = channels, channels, channels, channels, training, 0.1, 1e-5, True
            assert_as_torch(mode, own, aten.batch_norm.default, x, *own_norm)
            assert_as_torch(mode, own, aten.group_norm.default, x, 1, channels, channels, 1e-5, True)
            assert_as_torch(mode, own, aten.layer_norm.default, x, [shape[-1]], last, last, 1e-5, True)
            assert_as_torch(mode, own, aten.layer_norm.default, x.permute(0, 2, 3, 1), [shape[1]], channels, channels)


def test_matmul(mode):
    own = kernels.Kernels(mode)
    shapes = [(4,), (3, 4), (4, 5), (2, 3, 4), (2, 4, 5), (1, 4, 5), (2, 3, 3, 4), (2, 3, 4, 5), (2, 1, 4, 1)]
    for one, other in itertools.product(shapes, shapes):
        for x, y in zip(tensors(mode, one), itertools.cycle(tensors(mode, other))):
            assert_as_torch(mode, own, aten.matmul.default, x, y)


def heads(mode, batch, heads, length, size, dtype):
    """Operands as models make them: from a projection, permuted, and with a gradient."""
    with mode:
        yield torch.empty(batch, heads, length, size, dtype=dtype)
        yield torch.empty(batch, length, heads, size, dtype=dtype).transpose(1, 2)
        yield torch.empty(length, batch, heads, size, dtype=dtype).permute(1, 2, 0, 3).requires_grad_()


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_attention(mode, dtype):
    own = kernels.Kernels(mode)
    operator = aten.scaled_dot_product_attention.default
    cases = [((2, 3), 5, 5, (4, 4)), ((1, 3), 5, 7, (4, 4)), ((2, 1), 1, 7, (4, 6)), ((2, 3), 1, 5, (4, 4)), ((2, 3), 5, 7, (4, 6))]
    for (batch, number), length, other, (size, value_size) in cases:
        with mode:
            masks = [None, torch.empty(length, other, dtype=dtype), torch.empty(2, 2, 2, 2, dtype=dtype)]
            masks += [torch.empty(1, 1, length, other, dtype=torch.bool), torch.empty(length, other, dtype=dtype).requires_grad_()]
        operands = zip(
            heads(mode, batch, number, length, size, dtype),
            heads(mode, batch, number, other, size, dtype),
            heads(mode, batch, number, other, value_size, dtype),
        )
        for (q, k, v), mask in itertools.product(operands, masks):
            for causal in (False, True) if mask is None else (False,):
                assert_as_torch(mode, own, operator, q, k, v, mask, 0.0, causal)
            assert_as_torch(mode, own, operator, q, k, v, mask, scale=0.5)
            assert_as_torch(mode, own, operator, q, k[:, :1], v[:, :1], mask, enable_gqa=True)


def test_convolutions(mode):
    own = kernels.Kernels(mode)
    for image, kernel in (((2, 4, 6, 5), (8, 4, 3, 2)), ((1, 1, 6, 5), (2, 1, 1, 1)), ((2, 4, 1, 1), (4, 2, 1, 1)), ((4, 6, 5), (8, 4, 3, 2)), ((2, 0, 4, 4), (3, 0, 1, 1))):
        with mode:
            bias, wrong = torch.empty(kernel[0]), torch.empty(kernel[0] + 1)
        for x, w in itertools.product(tensors(mode, image), tensors(mode, kernel)):
            for b, rest in itertools.product((None, bias, wrong), ((), ([2, 2], [1, 1]), ([2], [1], [2]), ([1, 1], [0, 0], [1, 1], 2), ([1, 1], [0, 0], [9, 9]))):
                assert_as_torch(mode, own, aten.conv2d.default, x, w, b, *rest)
    with mode:
        parts = [torch.empty(1, 9, *sizes)[:, a:b] for sizes in ((6, 5), (1, 1), (1, 5)) for a, b in ((0, 4), (3, 7), (2, 3))]
    for x in parts:
        for w in tensors(mode, (6, x.shape[1], 1, 1)):
            assert_as_torch(mode, own, aten.conv2d.default, x, w)
    for x, w in itertools.product(tensors(mode, (2, 4, 9)), tensors(mode, (6, 2, 3))):
        assert_as_torch(mode, own, aten.conv1d.default, x, w, None, [2], [1], [1], 2)
    for x, w in itertools.product(tensors(mode, (2, 4, 5, 6, 7)), tensors(mode, (6, 4, 1, 2, 3))):
        assert_as_torch(mode, own, aten.conv3d.default, x, w, None, [1, 2, 1])


IMAGES = [(2, 3, 4, 6), (1, 1, 4, 6), (2, 3, 1, 1), (3, 4, 6)]


def test_operators_of_images(mode):
    own = kernels.Kernels(mode)
    for x in itertools.chain.from_iterable(tensors(mode, shape) for shape in IMAGES):
        for sizes in ([1, 1], [2, 3], [7, 7], [0, 1]):
            assert_as_torch(mode, own, aten.adaptive_avg_pool2d.default, x, sizes)
        for sizes, factors in (([5, 7], None), (None, [2.0, 2.0]), (None, [1.3, 0.6]), (None, [0.1, 0.1]), ([1, 1], None), (None, None)):
            assert_as_torch(mode, own, aten.upsample_nearest2d.vec, x, sizes, factors)
            assert_as_torch(mode, own, aten.upsample_bilinear2d.vec, x, sizes, False, factors)
            assert_as_torch(mode, own, aten.upsample_bicubic2d.vec, x, sizes, True, factors)
        for by in ([1, 2], [0, 1, 0, 2], [-1, -1, 1, 1], [0, 0], [-2, -4], [0, 0, 0, 0, 0, 1], [1]):
            assert_as_torch(mode, own, aten.pad.default, x, by)
            assert_as_torch(mode, own, aten.pad.default, x, by, "constant", 1.0)
            assert_as_torch(mode, own, aten.pad.default, x, by, "reflect")


def test_operators_of_several_tensors(mode):
    own = kernels.Kernels(mode)
    for one, other, dim in itertools.product(SHAPES, SHAPES, (0, 1, -1)):
        for x, y in zip(tensors(mode, one), tensors(mode, other)):
            assert_as_torch(mode, own, aten.cat.default, [x, y], dim)
            assert_as_torch(mode, own, aten.cat.default, [x, x, y], dim)
    for shape in SHAPES:
        for x in tensors(mode, shape):
            for dims, keep in itertools.product(([0], [1], [-1], [0, 1], [-1, -2], [], None, [0, 0]), (False, True)):
                assert_as_torch(mode, own, aten.mean.dim, x, dims, keep)


def test_rows_of_a_table(mode):
    own = kernels.Kernels(mode)
    for shape, of in itertools.product(SHAPES, ((4,), (1,), (2, 3), (0,), ())):
        for x, dtype in itertools.product(tensors(mode, shape), (torch.int64, torch.int32)):
            for index in tensors(mode, of, dtype):
                assert_as_torch(mode, own, aten.index.Tensor, x, [index])
                assert_as_torch(mode, own, aten.index.Tensor, x, [None, index])


def test_comparisons(mode):
    own = kernels.Kernels(mode)
    for shape, dtype in itertools.product(SHAPES, (torch.float32, torch.int64)):
        for x, number in itertools.product(tensors(mode, shape, dtype), (0, 0.5, True)):
            for operator in (aten.eq.Scalar, aten.lt.Scalar, aten.ge.Scalar):
                assert_as_torch(mode, own, operator, x, number)
            assert_as_torch(mode, own, aten.clamp.default, x, number)
            assert_as_torch(mode, own, aten.clamp_min.default, x, number)


def test_other_operators_are_cached(mode):
    own = kernels.Kernels(mode)
    with mode:
        image, kernel = torch.empty(1, 3, 8, 8), torch.empty(4, 3, 3, 3).requires_grad_()
        q = torch.empty(2, 5, 4, 6).transpose(1, 2)
    for _ in range(2):
        assert_as_torch(mode, own, aten.conv2d.default, image, kernel)
        assert_as_torch(mode, own, aten.conv2d.default, image, kernel, None, [2, 2])
        assert_as_torch(mode, own, aten.scaled_dot_product_attention.default, q, q, q, None, 0.0, True)
        assert_as_torch(mode, own, aten.reshape.default, q, [2, 4, 30])
        assert_as_torch(mode, own, aten.split.Tensor, image, 2, 1)
        assert_as_torch(mode, own, aten.to.dtype, image, torch.float16)
        assert_as_torch(mode, own, aten.cat.default, [image, image], 1)
        assert_as_torch(mode, own, aten.cat.default, [image, image], dim=2)


VIEWS = [
    (aten.view.default, [6, 4]), (aten.transpose.int, 0, 1), (aten.permute.default, [2, 0, 1]), (aten.select.int, 1, 2), (aten.slice.Tensor, 2, 1, 3),
    (aten.unsqueeze.default, 1), (aten.unbind.int, 1), (aten.split_with_sizes.default, [1, 3], 2), (aten.chunk.default, 2, 2), (aten.alias.default,),
    (aten.reshape.default, [3, 8]), (aten.flatten.using_ints, 1), (aten.detach.default,), (aten.squeeze.dim, 1), (aten.t.default,),
    (aten.expand.default, [5, 2, 3, 4]), (aten.unflatten.int, 2, [2, 2]), (aten.narrow.default, 1, 1, 2), (aten.diagonal.default,),
]  # fmt: skip


@pytest.mark.parametrize("operator, rest", [(v[0], v[1:]) for v in VIEWS])
def test_views_are_cached(mode, operator, rest):
    own = kernels.Kernels(mode)
    for shape in ((2, 3, 4), (1, 3, 4), (2, 1, 4), (2, 12)):
        for x in tensors(mode, shape):
            with mode:
                whole = torch.empty(3, *shape)
            if x.is_contiguous() and 7 in x.stride():
                continue  # for a size of one, reshape gives the stride of torch's kernels and not that of the mode
            for y in (x, x.detach(), whole[1], whole[2]):  # with other offsets
                assert_as_torch(mode, own, operator, y, *rest)


def test_a_view_begins_where_torch_has_it(mode):
    own = kernels.Kernels(mode)
    with mode:
        x = torch.empty(4, 3, 5)
        for _ in range(2):
            for row in (0, 2, 1):
                y = own.result(operator_of(aten.select.int), (x, 0, row), {})
                for i, part in enumerate(own.result(operator_of(aten.unbind.int), (y, 0), {})):
                    assert part.storage_offset() == 15 * row + 5 * i
                    assert part.untyped_storage()._cdata == x.untyped_storage()._cdata


def test_equal_numbers_of_different_types_are_distinguished(mode):
    """1, 1.0 and True are the same key of a dictionary."""
    own = kernels.Kernels(mode)
    with mode:
        x = torch.empty(3, dtype=torch.int64)
    for number in (1, 1.0, True, 1):
        assert_as_torch(mode, own, aten.add.Tensor, x, number)


def test_gradients_are_distinguished(mode):
    own = kernels.Kernels(mode)
    with mode:
        x = torch.empty(2, 3).requires_grad_()
    for _ in range(2):
        assert_as_torch(mode, own, aten.relu.default, x)
        with torch.no_grad():
            assert_as_torch(mode, own, aten.relu.default, x)


def test_views_share_elements_with_their_tensor(mode):
    own = kernels.Kernels(mode)
    with mode:
        x = torch.empty(2, 3, 4)
        for _ in range(2):
            for operator, args in (
                (aten.reshape.default, (x, [6, 4])),
                (aten.contiguous.default, (x,)),
                (aten.transpose.int, (x, 0, 1)),
                (aten.dropout.default, (x, 0.5, False)),
                (aten.to.dtype, (x, torch.float32)),
                (aten.relu_.default, (x,)),
            ):
                made = own.result(operator_of(operator), args, {})
                assert made.untyped_storage()._cdata == x.untyped_storage()._cdata, operator
