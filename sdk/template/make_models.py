"""Writes the test files of the projects of `tmeter plugin new`: common/model.pt2 and
common/run.pt2, without weights, and tensor/weights.safetensors. torch 2.15.0, safetensors 0.8.0."""
import sys
from pathlib import Path

import torch
from safetensors.torch import save_file

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1] / "tests" / "fixtures"))
from forms import tidy_stack_traces  # noqa: E402


@torch.library.custom_op("acme::gated_mlp", mutates_args=())
def gated_mlp(x: torch.Tensor, w_in: torch.Tensor, w_out: torch.Tensor) -> torch.Tensor:
    gate, value = (x @ w_in.t()).chunk(2, -1)
    return (torch.sigmoid(gate) * value) @ w_out.t()


@gated_mlp.register_fake
def _(x, w_in, w_out):
    return torch.empty_like(x)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.enter = torch.nn.Linear(16, 32)
        self.w_in = torch.nn.Parameter(torch.empty(128, 32))
        self.w_out = torch.nn.Parameter(torch.empty(32, 64))

    def forward(self, x):
        return gated_mlp(torch.relu(self.enter(x)), self.w_in, self.w_out)


class Run(torch.nn.Module):
    """A model of PyTorch's own operators."""

    def __init__(self):
        super().__init__()
        self.enter = torch.nn.Linear(16, 32)

    def forward(self, x):
        return torch.relu(self.enter(x))


def save(module: type, path: Path) -> None:
    with torch.device("meta"):
        program = torch.export.export(module().eval(), (torch.zeros(4, 16),))
    tidy_stack_traces(program.graph_module, keep=False)
    torch.export.save(program, path)


def main() -> None:
    save(Net, HERE / "common" / "model.pt2")
    save(Run, HERE / "common" / "run.pt2")
    save_file({"first.weight": torch.tensor([[1.0, -2.5], [0.5, 0.0]]), "first.bias": torch.tensor([0.25, 4.0])},
              HERE / "tensor" / "weights.safetensors")


if __name__ == "__main__":
    main()
