"""Tiny networks with weights, each with a feature that a run must get right."""
import torch
from torch import nn
from torch.nn import functional as F


class Convolutions(nn.Module):
    """Batch norm with its buffers, in-place operators, pooling, a view."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 8, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(8)
        self.relu = nn.ReLU(inplace=True)
        self.conv2 = nn.Conv2d(8, 16, 3, stride=2, groups=2)
        self.pool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(16, 10)
        self.bn1.running_mean.uniform_(-1, 1)
        self.bn1.running_var.uniform_(0.5, 1.5)

    def forward(self, x):
        x = self.relu(self.bn1(self.conv1(x)))
        x = F.max_pool2d(x, 2)
        x = self.relu(self.conv2(x))
        return self.fc(torch.flatten(self.pool(x), 1))


class Recurrent(nn.Module):
    """Operators that take lists of weights and return tuples."""

    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(6, 5, num_layers=2, batch_first=True, bidirectional=True)

    def forward(self, x):
        out, (h, c) = self.lstm(x)
        return out, h, c


class Attention(nn.Module):
    """Tokens, tied weights, a computed mask, two outputs."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(37, 16)
        self.layer = nn.TransformerEncoderLayer(16, 4, 32, dropout=0.1, batch_first=True)
        self.head = nn.Linear(16, 37, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, tokens):
        mask = nn.Transformer.generate_square_subsequent_mask(tokens.shape[1])
        hidden = self.layer(self.embed(tokens), src_mask=mask)
        return self.head(hidden), hidden[:, -1]


class Pieces(nn.Module):
    """Lists of tensors as inputs and outputs, an operator that writes into another tensor's storage, constants."""

    def forward(self, x):
        a, b, c = x.split([1, 2, 3], dim=1)
        parts = torch.unbind(torch.cat([c, b, a], dim=1), dim=1)
        y = torch.stack([parts[0], parts[-1]]) + torch.tensor([[1.5], [2.5]])[:, :, None]
        y[0, :, 1:].mul_(3)
        y[1].index_put_((torch.tensor([0, 1]),), torch.zeros(2, y.shape[-1]), accumulate=False)
        top, index = y.topk(2, dim=-1)
        return {"top": top, "index": index, "sum": y.sum(dtype=torch.float64)}


class Sizes(nn.Module):
    """Results whose size depends on values, and arithmetic on that size."""

    def forward(self, x):
        found = torch.nonzero(x > 0.5)
        n = found.shape[0]
        torch._check(n >= 1)
        selected = x[x > 0.5]
        return found.float().mean(dim=0), selected.sum() / n, torch.arange(n) * 2


class Types(nn.Module):
    """Half precision, complex numbers, booleans, 64-bit integers, a buffer with strides."""

    def __init__(self):
        super().__init__()
        self.weight16 = nn.Parameter(torch.randn(4, 4).to(torch.bfloat16))
        self.register_buffer("turned", torch.randn(4, 6).t())
        self.register_buffer("phase", torch.view_as_complex(torch.randn(4, 2)))
        self.register_buffer("steps", torch.arange(4))
        self.register_buffer("keep", torch.tensor([True, False, True, True]))

    def forward(self, x):
        y = (x.to(torch.bfloat16) @ self.weight16).float()
        z = torch.fft.fft(y, dim=-1) * self.phase
        return z.abs()[:, self.keep] + 1, F.linear(y, self.turned), self.steps.cumsum(0), None


class Growing(nn.Module):
    """One open size."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        return self.linear(x).reshape(x.shape[0] * 2, 2).softmax(-1)


class Calling(nn.Module):
    """A program that branches on a size, with lists of sizes as arguments."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 3)

    def forward(self, x):
        out = []
        for i in range(x.shape[0]):
            y = self.linear(x[i])
            out.append(y if i % 2 == 0 else y.neg_())
        return torch.stack(out).new_zeros(x.shape[0], 3).add_(torch.stack(out), alpha=2)


class Turned(nn.Module):
    """Products of matrices with rows that are not contiguous: if these are trainable, PyTorch copies the rows and computes one
    product of all rows (should_fold), else one per item of the batch."""

    def __init__(self, trainable=True):
        super().__init__()
        self.linear = nn.Linear(64, 48)
        self.matrix = nn.Parameter(torch.randn(64, 32))
        self.requires_grad_(trainable)

    def operands(self, x):
        wide = torch.cat([x, x], dim=2)[:, :, :64]  # gaps of equal size
        return x.transpose(0, 1), x.view(2, 4, 40, 64).permute(2, 0, 1, 3), wide

    def forward(self, x):
        rows, blocks, wide = self.operands(x)
        return self.linear(rows), rows @ self.matrix, self.linear(blocks), blocks @ self.matrix, F.linear(rows, self.matrix.t()), \
            self.linear(wide)


class Cut(nn.Module):
    """Weights that are parts of another. A part is trainable if the whole is, unless it is detached."""

    def __init__(self):
        super().__init__()
        self.fused, self.stacked = nn.Parameter(torch.randn(96, 64)), nn.Parameter(torch.randn(3, 48, 64))

    def weights(self):
        return self.fused[:48], self.stacked[1], self.fused.view(2, 48, 64)[0], self.fused.squeeze(), self.fused.detach()

    def forward(self, x):
        return tuple(F.linear(x.transpose(0, 1), w) for w in self.weights())


def models():
    """name → (network, inputs)"""
    torch.manual_seed(20)
    made = {
        "convolutions": (Convolutions(), (torch.randn(2, 3, 16, 16),)),
        "recurrent": (Recurrent(), (torch.randn(2, 7, 6),)),
        "attention": (Attention(), (torch.randint(0, 37, (2, 9)),)),
        "pieces": (Pieces(), (torch.randn(2, 6, 5),)),
        "sizes": (Sizes(), (torch.randn(4, 5),)),
        "types": (Types(), (torch.randn(3, 4),)),
        "growing": (Growing(), (torch.randn(6, 4),)),
        "calling": (Calling(), (torch.randn(5, 4),)),
        "turned": (Turned(), (torch.randn(8, 40, 64),)),
        "frozen": (Turned(trainable=False), (torch.randn(8, 40, 64),)),
    }
    return {name: (net.eval(), inputs) for name, (net, inputs) in made.items()}


class Branching(nn.Module):
    """Branches on data."""

    def forward(self, x):
        return torch.cond(x.sum() > 0, lambda x: x.sin() + 1, lambda x: x.cos() * 2, (x,))


class Looping(nn.Module):
    """Loops until an element is large enough."""

    def forward(self, x):
        def go_on(i, y):
            return y.sum() < 100

        def body(i, y):
            return i + 1, y * 2

        return torch.while_loop(go_on, body, (torch.zeros((), dtype=torch.int64), x))
