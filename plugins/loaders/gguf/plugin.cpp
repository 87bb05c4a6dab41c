// The loader of GGUF files: one file, or all parts of a split model, whichever of them is named.
// Weights are not read; the decoder of their blocks is here, too.
#include <algorithm>
#include <deque>
#include <set>
#include <tmeter/cpp/natural_order.hpp>
#include <tmeter/cpp/plugin.hpp>
#include <tmeter/cpp/text_hash.hpp>
#include <unordered_set>

#include "../common/weight_tree.hpp"
#include "decoder.hpp"
#include "header.hpp"
#include "metadata.hpp"
#include "module_names.hpp"

namespace gguf {
namespace {

using loading::in_quotes;

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

/// Not weights: tables of factors for rotary embeddings, indices, and the bias of a router's
/// choice, which training moves without gradients. In models where that bias is a weight, it has
/// another module.
bool is_buffer(const StoredTensor& t, std::string_view module) {
  return t.name.starts_with("rope_f") || t.name.ends_with(".attn_rot_embd") ||
         (t.name.find(".exp_probs_b") != t.name.npos && module.ends_with(".gate")) ||
         (t.type && t.type->is_integer());
}

class Load {
 public:
  Load(const tmeter::Request& request, tmeter::GraphBuilder& graph, tmeter::Call& call)
      : source_(request.source()), graph_(graph), call_(call) {}

  void run() {
    if (!Header::plausible(source_.bytes()))
      throw tmeter::Error(TMETER_UNSUPPORTED, "not a GGUF file");
    Part given{Header(source_.bytes()), nullptr};
    const auto split = split_of(given.header.metadata());
    if (split.count == 1) {
      parts_.push_back(std::move(given));
    } else {
      read_parts(std::move(given), split);
    }
    push();
  }

 private:
  struct Part {
    Header header;
    const tmeter_source* file;  // null: the model file
  };

  void read_parts(Part given, const Split& split) {
    const auto names = shard_names(file_name(source_.path()), split);
    std::vector<std::optional<tmeter::Source>> files(names.size());
    std::vector<std::string> missing;
    for (size_t i = 0; i < names.size(); ++i) {
      if (i == split.number) continue;
      try {
        files[i] = source_.companion(names[i]);
      } catch (const tmeter::Error&) {
        missing.push_back(names[i]);
      }
    }
    if (!missing.empty())
      throw BadFile("of the " + std::to_string(split.count) + " files of this model, " +
                        std::to_string(missing.size()) + " cannot be opened: " + listed(missing),
                    "they belong in the same folder");
    for (size_t i = 0; i < names.size(); ++i) {
      if (call_.cancelled()) throw tmeter::Error(TMETER_CANCELLED, "stopped");
      if (i == split.number) {
        parts_.push_back(std::move(given));
      } else {
        loading::within([&] { return "part " + in_quotes(names[i]); },
                        [&] { parts_.push_back(read_part(*files[i], i, split.count)); });
      }
    }
    check_tensors(split);
  }

  static Part read_part(const tmeter::Source& file, uint64_t number, uint64_t count) {
    Part part{Header(file.bytes()), file.handle()};
    const auto split = split_of(part.header.metadata());
    if (split.number != number || split.count != count)
      throw BadFile("its metadata say that it is part " + std::to_string(split.number + 1) +
                    " of " + std::to_string(split.count));
    return part;
  }

  void check_tensors(const Split& split) const {
    std::unordered_set<std::string_view, tmeter::TextHash> names;
    for (const auto& part : parts_)
      for (const auto& t : part.header.tensors())
        if (!names.insert(t.name).second)
          throw BadFile("the tensor " + in_quotes(t.name) + " is in two files");
    const auto expected = split_of(parts_.front().header.metadata()).tensors;
    if (expected && *expected != names.size())
      throw BadFile("split.tensors.count is " + std::to_string(*expected) + ", but the " +
                    std::to_string(split.count) + " files have " + std::to_string(names.size()) +
                    " tensors");
  }

  void push() {
    architecture_ = parts_.front().header.metadata().find_text("general.architecture");
    loading::WeightTree tree(graph_);
    bool is_first = true;
    for (const auto& part : parts_)
      for (const auto& t : part.header.tensors()) {
        if (is_first && !layer_number(t.name).empty()) make_layers(tree), is_first = false;
        push(t, part, tree);
      }
    const auto& first = parts_.front().header;
    std::string format = "GGUF v" + std::to_string(first.version());
    if (first.big_endian()) format += ", big-endian";
    if (parts_.size() > 1) format += " (" + std::to_string(parts_.size()) + " files)";
    graph_.property("format", format);
    graph_.property("content", "weights");
    push_metadata(first.metadata(), graph_);
  }

  /// In the order of their numbers, whatever order the file has.
  void make_layers(loading::WeightTree& tree) const {
    const auto earlier = [](std::string_view a, std::string_view b) {
      return tmeter::natural_less(a, b);
    };
    std::set<std::string_view, decltype(earlier)> numbers(earlier);
    for (const auto& part : parts_)
      for (const auto& t : part.header.tensors())
        if (const auto number = layer_number(t.name); !number.empty()) numbers.insert(number);
    for (const auto number : numbers)
      tree.module(module_of("blk." + std::string(number) + ".weight", architecture_));
  }

  void push(const StoredTensor& t, const Part& part, loading::WeightTree& tree) {
    const bool swapped = part.header.big_endian() && !(t.type && t.type->block_bytes == 1);
    const std::string encoding = t.encoding() + (swapped ? kBigEndian : "");
    tmeter_tensor_desc d{};
    d.name = tmeter::to_abi(t.name);
    const auto module = module_of(t.name, architecture_);
    d.owner = tree.module(module);
    d.dims = t.dims.data();
    d.rank = t.dims.size();
    d.file_offset = t.begin;
    d.storage_bytes = t.bytes;
    d.source = part.file;
    if (t.type && !t.type->in_blocks() && !swapped) {
      d.dtype = t.type->dtype;
    } else {
      d.dtype = TMETER_DTYPE_FLOAT32;
      d.encoding = tmeter::to_abi(encoding);
      d.block_elements = t.type ? t.type->block_elements : 0;
      d.block_bytes = t.type ? t.type->block_bytes : 0;
      if (t.type && !t.type->in_blocks()) d.stored_dtype = t.type->dtype;
    }
    if (is_buffer(t, module)) {
      tree.add_buffer(d);
    } else {
      tree.add_parameter(d, true);
    }
  }

  tmeter::Source source_;
  tmeter::GraphBuilder& graph_;
  tmeter::Call& call_;
  std::deque<Part> parts_;
  std::string_view architecture_;
};

void load(const tmeter::Request& request, tmeter::GraphBuilder& graph, tmeter::Call& call) {
  try {
    Load(request, graph, call).run();
  } catch (const BadFile& e) {
    const std::string advice =
        e.advice().empty() ? "the file is damaged; download or convert it again" : e.advice();
    throw tmeter::Error(TMETER_BAD_MODEL, std::string(e.what()) + "; " + advice);
  }
}

}  // namespace
}  // namespace gguf

TMETER_PLUGIN_INFO(
    (tmeter::PluginInfo{
        .id = "org.tmeter.gguf",
        .version = "1.0.0",
        .description = "Reads GGUF files, also split ones, and decodes ggml's blocks",
    }),
    [](tmeter::Registrar& r) {
      r.loader("gguf", "GGUF file", {{"magic:47475546", 90}}, gguf::load);  // "GGUF"
      gguf::register_decoder(r);
    })
