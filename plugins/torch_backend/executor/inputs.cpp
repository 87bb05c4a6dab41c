#include <ATen/CPUGeneratorImpl.h>
#include <caffe2/serialize/inline_container.h>
#include <torch/csrc/jit/serialization/pickle.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <sstream>
#include <unordered_set>

#include "executor/array_file.hpp"
#include "executor/program.hpp"
#include "executor/weights.hpp"
#include "operators/arguments.hpp"
#include "operators/messages.hpp"
#include "torchscript/archive/checks.hpp"
#include "torchscript/run/loaded_model_state.hpp"

namespace tmeter::torch_backend {
namespace {

struct Lookup {
  std::string_view op, table, indices;
};

/// Operators that select by index along the dim `dim` of their table; the first dim if they have no
/// such argument.
constexpr std::array<Lookup, 8> kLookups{
    {{"aten::embedding", "weight", "indices"},
     {"aten::embedding_bag", "weight", "indices"},
     {"aten::_embedding_bag", "weight", "indices"},
     {"aten::_embedding_bag_forward_only", "weight", "indices"},
     {"aten::index_select", "self", "index"},
     {"aten::gather", "self", "index"},
     {"aten::index", "self", "indices"},
     {"aten::take_along_dim", "self", "indices"}}};

bool is_integer(const Value& value) {
  const auto type = static_cast<at::ScalarType>(value.dtype().id());
  return value.dtype().known() && at::isIntegralType(type, /*includeBool=*/false);
}

class IndexFlow {
 public:
  explicit IndexFlow(const Value& input) { reached_.insert(input.handle()); }

  void follow(const Node& node) {
    bool used = false;
    for (size_t i = 0; i < node.arg_count(); ++i) used = used || holds(node.arg(i));
    if (!used) return;
    for (const auto& lookup : kLookups) {
      if (lookup.op == node.op() && choose(node, lookup)) return;
    }
    for (size_t i = 0; i < node.result_count(); ++i) {
      for_each_tensor_value(node.result(i), [&](const Value& v) {
        if (is_integer(v)) reached_.insert(v.handle());
      });
    }
  }

  int64_t rows() const { return rows_; }

 private:
  bool holds(const Value& value) const {
    bool any = false;
    for_each_tensor_value(value,
                          [&](const Value& v) { any = any || reached_.contains(v.handle()); });
    return any;
  }

  bool choose(const Node& node, const Lookup& lookup) {
    if (!holds(node.arg(lookup.indices))) return false;
    const auto table = node.arg(lookup.table).shape();
    if (lookup.op != "aten::index") {
      const auto dim = node.arg("dim").as_int(0);
      if (dim < table.rank() && dim >= -table.rank()) keep(table[dim]);
      return true;
    }
    const auto indices = node.arg(lookup.indices);
    for (size_t i = 0; i < indices.size() && static_cast<int64_t>(i) < table.rank(); ++i) {
      if (holds(indices[i])) keep(table[static_cast<int64_t>(i)]);
    }
    return true;
  }

  void keep(int64_t rows) { rows_ = rows_ == 0 ? rows : std::min(rows_, rows); }

  std::unordered_set<const tmeter_value*> reached_;
  int64_t rows_ = 0;
};

/// The number of rows of the smallest table from which integers of the input select; 0 if there is
/// no table.
int64_t vocabulary_of(const Graph& graph, const Value& input) {
  IndexFlow reach(input);
  for (const auto& node : graph.nodes()) reach.follow(node);
  return reach.rows();
}

[[noreturn]] void refuse_input(const std::string& what) { throw Error(TMETER_BAD_USAGE, what); }

/// A tensor of the graph's inputs: "images", "images[1]".
struct InputTensor {
  std::string name;
  Value value;
};

struct Given {
  std::string name;
  at::Tensor tensor;
};

std::string shape_text(at::ScalarType type, at::IntArrayRef sizes) {
  std::string out = std::string(DType(static_cast<int32_t>(type)).name()) + "[";
  for (size_t i = 0; i < sizes.size(); ++i) out += (i ? ", " : "") + std::to_string(sizes[i]);
  return out + "]";
}

std::string read_all(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) refuse_input("input file " + path + " cannot be read: " + std::strerror(errno));
  std::string content((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (file.bad()) refuse_input("input file " + path + " cannot be read");
  return content;
}

at::Tensor tensor_of(const FileArray& array) {
  auto out = at::empty(array.sizes, at::dtype(static_cast<at::ScalarType>(array.dtype)));
  std::memcpy(out.mutable_data_ptr(), array.data.data(), array.data.size());
  return out;
}

std::vector<Given> from_arrays(const std::vector<FileArray>& arrays) {
  std::vector<Given> out;
  for (const auto& array : arrays) out.push_back({array.name, tensor_of(array)});
  return out;
}

void collect(const c10::IValue& value, const std::string& name, std::vector<Given>& out) {
  if (value.isTensor()) {
    out.push_back({name, value.toTensor()});
  } else if (value.isGenericDict()) {
    for (const auto& entry : value.toGenericDict()) {
      if (entry.key().isString()) collect(entry.value(), entry.key().toStringRef(), out);
    }
  } else if (value.isTuple()) {
    for (const auto& item : value.toTupleRef().elements()) collect(item, {}, out);
  } else if (value.isList()) {
    const auto items = value.toList();
    for (size_t i = 0; i < items.size(); ++i) collect(items.get(i), {}, out);
  }
}

/// Reads a file of torch.save with LibTorch's unpickler, which supports only tensors and containers
/// and runs no code.
std::vector<Given> from_pt(const std::string& content, const std::string& path) {
  try {
    std::istringstream stream(content);
    const auto [pickle, size] =
        caffe2::serialize::PyTorchStreamReader(&stream).getRecord("data.pkl");
    check_pickle({static_cast<const char*>(pickle.get()), size}, "data.pkl");
    std::vector<Given> out;
    collect(torch::jit::pickle_load({content.begin(), content.end()}), {}, out);
    return out;
  } catch (const std::exception& e) {
    refuse_input("input file " + path +
                 " does not hold tensors, or lists or dictionaries of them, "
                 "as torch.save writes them: " +
                 short_reason(e));
  }
}

std::vector<Given> read_file(const std::string& path) {
  const auto content = read_all(path);
  std::vector<Given> out;
  const auto shown = "input file " + path;
  if (path.ends_with(".npy"))
    out = from_arrays(read_npy(content, shown));
  else if (path.ends_with(".safetensors"))
    out = from_arrays(read_safetensors(content, shown));
  else if (path.ends_with(".pt") || path.ends_with(".pth"))
    out = from_pt(content, path);
  else
    refuse_input(shown + " does not end in .pt, .npy or .safetensors");
  if (out.empty()) refuse_input(shown + " holds no tensor");
  return out;
}

class Inputs {
 public:
  Inputs(const Graph& graph, const tmeter_run_request& request, at::Device device)
      : graph_(graph), request_(request), device_(device) {
    for (size_t i = 0; i < graph.inputs().size(); ++i) {
      const std::string name(graph.input_name(i));
      const auto value = graph.inputs()[i];
      size_t item = 0;
      for_each_tensor_value(value, [&](const Value& v) {
        expected_.push_back(
            {value.is_list() ? name + "[" + std::to_string(item++) + "]" : name, v});
      });
    }
    tensors_.resize(expected_.size());
  }

  RunInputs run() {
    for (size_t i = 0; i < request_.input_count; ++i) take(request_.inputs[i]);
    const bool any_given = !described_.empty();
    size_t made = 0;
    const bool recorded = !any_given && same_as_recorded();
    for (size_t i = 0; i < expected_.size(); ++i) {
      if (tensors_[i].defined()) continue;
      tensors_[i] = recorded ? state_of(graph_).inputs[i].clone() : generated_tensor(i);
      ++made;
    }
    for (auto& tensor : tensors_) tensor = tensor.to(device_);
    return {std::move(tensors_), text(made, recorded)};
  }

 private:
  std::string text(size_t made, bool recorded) const {
    if (expected_.empty()) return "none";
    if (recorded) return "made up, as recorded with the program";
    const auto made_text = "made up, seed " + std::to_string(request_.seed);
    if (made == 0) return described_;
    return described_.empty() ? made_text : described_ + "; the others " + made_text;
  }

  std::string names() const {
    std::string out;
    for (const auto& w : expected_) out += (out.empty() ? "" : ", ") + w.name;
    return out.empty() ? "none" : out;
  }

  void take(const tmeter_input_file& file) {
    const std::string path(to_view(file.path)), name(to_view(file.name));
    const auto given = read_file(path);
    described_ += (described_.empty() ? "of " : ", ") + path;
    if (!name.empty()) {
      if (given.size() == 1) return set(name, given[0].tensor, path);
      return set(name, by_name(given, name, path), path);
    }
    if (given.size() == 1 && (given[0].name.empty() || !is_input(given[0].name))) {
      if (expected_.size() != 1)
        refuse_input("input file " + path + " holds one tensor, but the model has the inputs " +
                     names() + "; give its name: --input-file NAME=" + path);
      return set(expected_[0].name, given[0].tensor, path);
    }
    take_all(given, path);
  }

  /// Assigns tensors by name, and those without a name by position.
  void take_all(const std::vector<Given>& given, const std::string& path) {
    for (size_t i = 0; i < given.size(); ++i) {
      if (!given[i].name.empty()) {
        set(given[i].name, given[i].tensor, path);
      } else {
        if (i >= expected_.size())
          refuse_input("input file " + path + " holds " + std::to_string(given.size()) +
                       " tensors, but the model has the inputs " + names());
        set(expected_[i].name, given[i].tensor, path);
      }
    }
  }

  static at::Tensor by_name(const std::vector<Given>& given, const std::string& name,
                            const std::string& path) {
    for (const auto& g : given) {
      if (g.name == name) return g.tensor;
    }
    refuse_input("input file " + path + " holds several tensors, but none called '" + name + "'");
  }

  bool is_input(const std::string& name) const {
    for (const auto& w : expected_) {
      if (w.name == name) return true;
    }
    return false;
  }

  void set(const std::string& name, const at::Tensor& tensor, const std::string& path) {
    for (size_t i = 0; i < expected_.size(); ++i) {
      if (expected_[i].name != name) continue;
      check(expected_[i], tensor, path);
      tensors_[i] = tensor.contiguous();
      return;
    }
    refuse_input("input file " + path + ": the model has no input '" + name + "'; it has " +
                 names());
  }

  static void check(const InputTensor& target, const at::Tensor& tensor, const std::string& path) {
    const auto type = scalar_type_of(target.value.dtype(), target.name);
    const auto sizes = vector_of(target.value.shape());
    if (tensor.scalar_type() == type && tensor.sizes() == sizes) return;
    const bool only_sizes = tensor.scalar_type() == type;
    refuse_input("input file " + path + " has " + shape_text(tensor.scalar_type(), tensor.sizes()) +
                 " for '" + target.name + "', which must be " + shape_text(type, sizes) +
                 (only_sizes ? " (--input or --bind gives it other sizes)" : ""));
  }

  bool same_as_recorded() const {
    const auto& recorded = state_of(graph_).inputs;
    if (recorded.empty() || recorded.size() != expected_.size()) return false;
    for (size_t i = 0; i < expected_.size(); ++i) {
      if (recorded[i].sizes() != vector_of(expected_[i].value.shape())) return false;
    }
    return true;
  }

  at::Tensor generated_tensor(size_t i) const {
    const auto& target = expected_[i];
    const auto type = scalar_type_of(target.value.dtype(), target.name);
    const auto sizes = vector_of(target.value.shape());
    const auto generator = at::detail::createCPUGenerator(request_.seed + i);
    const bool integral = at::isIntegralType(type, /*includeBool=*/false);
    if (type == at::kBool) return at::ones(sizes, at::dtype(type));
    if (!integral) {
      const bool small = c10::isFloat8Type(type);
      return at::randn(sizes, generator, at::dtype(small ? at::kFloat : type)).to(type);
    }
    // A mask of ones hides nothing. Bytes that select from no table are those of an image.
    if (target.name.find("mask") != std::string::npos) return at::ones(sizes, at::dtype(type));
    const auto rows = vocabulary_of(graph_, target.value);
    const int64_t top = rows > 0 ? rows : type == at::kByte ? 256 : 2;
    return at::randint(0, top, sizes, generator, at::dtype(at::kLong)).to(type);
  }

  const Graph& graph_;
  const tmeter_run_request& request_;
  at::Device device_;
  std::vector<InputTensor> expected_;
  std::vector<at::Tensor> tensors_;
  std::string described_;
};

}  // namespace

RunInputs inputs_for(const Graph& graph, const tmeter_run_request& request, at::Device device) {
  return Inputs(graph, request, device).run();
}

}  // namespace tmeter::torch_backend
