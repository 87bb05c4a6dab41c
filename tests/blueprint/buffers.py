"""Records which tensors of transformers' models are parameters and which are buffers: `buffers.py OUT.jsonl [TYPE…]`, or `buffers.py OUT.jsonl diffusers timm`.

Each class of each type is built from its default configuration on meta tensors. Recorded once for each kind of layer are float buffers, parameters whose last
name component is that of a buffer in some model (NAMES), and norms with statistics, under the names of the module and of its checkpoints. Of a configuration
only the model types are recorded.
"""

import json
import os
import re
import signal
import sys
import warnings

warnings.filterwarnings("ignore")
os.environ["TRANSFORMERS_VERBOSITY"] = "error"
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from truth import CHANGES  # noqa: E402

SECONDS = 240  # for all classes of one type
ROWS = [line.split('"')[1].removeprefix("^") for line in open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../plugins/loaders/common/buffers.inc"))
        if line.startswith("Row")]  # fmt: skip
NAMES = tuple("." + (row if row.endswith(".bias") else row.rpartition(".")[2]) for row in ROWS)
TASKS = re.compile("SequenceClassification|TokenClassification|QuestionAnswering|MultipleChoice|NextSentence|VideoClassification|Config$")


def classes_of(model_type):
    from transformers.models.auto import modeling_auto

    found = {}
    for name in dir(modeling_auto):
        names = getattr(modeling_auto, name).get(model_type, ()) if name.endswith("_MAPPING_NAMES") else ()
        found |= dict.fromkeys(n for n in ([names] if isinstance(names, str) else names) if n and not TASKS.search(n))
    return list(found)


def types_in(config):
    out = {k: types_in(v) for k, v in config.items() if isinstance(v, dict)}
    return {k: v for k, v in out.items() if v} | {k: config[k] for k in ("model_type",) if k in config}


def representatives(tensors):
    """`tensors`: [name, type, shape, is a parameter]. One of each kind; of a norm with statistics, all its tensors."""
    norms, counting = {n.rpartition(".")[0] for n, *_ in tensors if n.endswith("running_mean")}, {n.rpartition(".")[0] for n, *_ in tensors if n.endswith("num_batches_tracked")}
    seen, shown, out = set(), {}, []
    for name, dtype, shape, is_parameter in tensors:
        module = name.rpartition(".")[0]
        pattern = re.sub(r"(?<![^.])\d+(?![^.])", "#", name)
        if module in norms:
            if name.endswith(".weight"):
                shown.setdefault((is_parameter, module in counting), module)
        elif ((not is_parameter and "float" in dtype) or ("." + name).endswith(NAMES)) and (pattern, is_parameter) not in seen:
            seen.add((pattern, is_parameter))
            out.append([name, dtype, shape, is_parameter])
    return sorted(out + [t for t in tensors if t[0].rpartition(".")[0] in shown.values()])


def ends(row):
    """Endings with their kinds. A row is left out if earlier rows of its type have all of them."""
    return {(row["type"], ".".join(re.sub(r"\d+", "#", n).split(".")[-2:]), p) for n, _, _, p in row["tensors"]}


def record(model_type, classes):
    import torch
    import transformers
    from transformers.core_model_loading import revert_weight_conversion

    rows = []
    for name in classes:
        try:
            config = transformers.CONFIG_MAPPING[model_type](**CHANGES.get(model_type, [{}])[0])
            with torch.device("meta"):
                model = getattr(transformers, name)(config)
        except Exception as e:
            print(f"{model_type} {name}: {type(e).__name__}: {str(e)[:150]}", file=sys.stderr)
            continue
        tied = getattr(model, "all_tied_weights_keys", None) or {}
        state = {n: t for n, t in model.state_dict(keep_vars=True).items() if n not in tied}
        is_parameter = {id(t): isinstance(t, torch.nn.Parameter) for t in state.values()}
        forms = [representatives(listed(state, is_parameter))]
        try:
            saved = revert_weight_conversion(model, dict(state))
            # A tensor assembled from several tensors consists of parameters.
            forms.append(representatives(listed(saved, is_parameter)))
        except Exception as e:
            print(f"{model_type} {name}: {type(e).__name__}: {str(e)[:150]}", file=sys.stderr)
        for form in forms if len(forms) == 2 and forms[0] != forms[1] else forms[:1]:
            if form:
                rows.append({"type": model_type, "class": name, "config": types_in(model.config.to_dict()), "tensors": form})
    return rows


def listed(tensors, is_parameter):
    return [[n, str(t.dtype).removeprefix("torch."), list(t.shape), is_parameter.get(id(t), True)] for n, t in tensors.items()]


def other_models(library):
    """(name, config.json, constructor)"""
    if library == "timm":
        import timm

        first = {}
        for name in timm.list_models():
            first.setdefault((timm.models.model_entrypoint(name).__module__, re.sub(r"\d.*", "", name)), name)
        return [(n, {"architecture": n}, lambda n=n: timm.create_model(n, pretrained=False)) for n in sorted(first.values())]
    import diffusers

    found = [getattr(diffusers, n) for n in dir(diffusers) if re.search("Model$|Autoencoder|Transformer|UNet|VQ|Control|VAE", n) and "Pipeline" not in n]
    return [(c.__name__, {"_class_name": c.__name__}, c) for c in found if isinstance(c, type) and issubclass(c, diffusers.ModelMixin)]


def record_others(library):
    import torch

    rows = []
    for name, config, make in other_models(library):
        try:
            with torch.device("meta"):
                state = make().state_dict(keep_vars=True)
        except Exception as e:
            print(f"{name}: {type(e).__name__}: {str(e)[:150]}", file=sys.stderr)
            continue
        form = representatives(listed(state, {id(t): isinstance(t, torch.nn.Parameter) for t in state.values()}))
        if form:
            rows.append({"type": name, "class": library, "config": config, "tensors": form})
    return rows


def main():
    import torch
    import transformers

    model_types = sys.argv[2:] or sorted(transformers.CONFIG_MAPPING.keys())
    seen = set()
    with open(sys.argv[1], "w") as f:
        print(json.dumps({"torch": torch.__version__, "transformers": transformers.__version__}), file=f)
        for model_type in model_types:
            read, write = os.pipe()
            pid = os.fork()
            if pid == 0:
                is_library = model_type in ("diffusers", "timm")
                signal.alarm(SECONDS * (10 if is_library else 1))
                with os.fdopen(write, "w") as out:
                    json.dump(record_others(model_type) if is_library else record(model_type, classes_of(model_type)), out)
                os._exit(0)
            os.close(write)
            with os.fdopen(read) as out:
                text = out.read()
            os.waitpid(pid, 0)
            if not text:
                print(f"{model_type}: ended or took too long", file=sys.stderr)
            for row in json.loads(text or "[]"):
                if not ends(row) <= seen:
                    print(json.dumps(row), file=f, flush=True)
                seen |= ends(row)


if __name__ == "__main__":
    main()
