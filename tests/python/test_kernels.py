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
    """In order, reversed, with gaps, with an odd stride where a size is one, and wanting a gradient."""
    with mode:
        plain = torch.empty(shape, dtype=dtype)
        yield plain
        if len(shape) > 1:
            yield torch.empty(shape[::-1], dtype=dtype).permute(*reversed(range(len(shape))))
            yield torch.empty((*shape[:-1], 2 * shape[-1]), dtype=dtype)[..., ::2]
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
    """Twice: worked out, and known."""
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
    for x in tensors(mode, (2, 3, 4)):
        assert_as_torch(mode, own, aten.batch_norm.default, x, three, three, three, three, False, 0.1, 1e-5, True)
        assert_as_torch(mode, own, aten.layer_norm.default, x, [4], four, four, 1e-5, True)
        assert_as_torch(mode, own, aten.layer_norm.default, x, [4], half, half, 1e-5, True)
        assert_as_torch(mode, own, aten.group_norm.default, x, 3, three, three, 1e-5, True)


def test_other_operators_are_known_the_second_time(mode):
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


def test_a_number_is_not_another(mode):
    """1, 1.0 and True are one key of a dictionary."""
    own = kernels.Kernels(mode)
    with mode:
        x = torch.empty(3, dtype=torch.int64)
    for number in (1, 1.0, True, 1):
        assert_as_torch(mode, own, aten.add.Tensor, x, number)


def test_gradients_are_asked_for(mode):
    own = kernels.Kernels(mode)
    with mode:
        x = torch.empty(2, 3).requires_grad_()
    for _ in range(2):
        assert_as_torch(mode, own, aten.relu.default, x)
        with torch.no_grad():
            assert_as_torch(mode, own, aten.relu.default, x)


def test_what_shares_elements_still_does(mode):
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
