// The loader of safetensors files: one file, or several with an index. Weights are not read.
#include <algorithm>
#include <memory_resource>
#include <tmeter/cpp/plugin.hpp>

#include "../common/shard_index.hpp"
#include "header.hpp"
#include "weights.hpp"

namespace safetensors {
namespace {

using loading::BadFile;
using loading::ShardIndex;

/// Leaves the file to the next loader.
[[noreturn]] void pass_on() { throw tmeter::Error(TMETER_UNSUPPORTED, "not a safetensors file"); }

class Load {
 public:
  Load(const tmeter::Request& request, tmeter::GraphBuilder& graph, tmeter::Call& call)
      : source_(request.source()), graph_(graph), call_(call) {}

  void run() {
    const bool plausible = Header::plausible(source_.bytes());
    // With a header of 123 bytes, the length begins with '{', too.
    if (plausible || !source_.bytes().starts_with('{')) {
      if (!plausible && !source_.path().ends_with(".safetensors")) pass_on();
      read_file(source_.bytes(), nullptr);
      push("safetensors");
      if (const auto part = loading::part_of_shards(source_.path()); !part.empty())
        graph_.property("part", part);
      return;
    }
    read_shards();
    push("safetensors (" + std::to_string(files_) + " files)");
  }

 private:
  /// The index of a large model takes memory that the graph needs afterwards.
  void read_shards() {
    const auto index = ShardIndex::read(source_.bytes());
    if (!index) pass_on();
    loading::require_shards(*index, source_);
    // The content of the shards decides between safetensors and checkpoints.
    if (!Header::plausible(source_.companion(index->shards().front().file).bytes())) pass_on();
    for (const auto& shard : index->shards()) read_shard(shard);
  }

  void read_shard(const loading::Shard& shard) {
    if (call_.cancelled()) throw tmeter::Error(TMETER_CANCELLED, "stopped");
    loading::within([&] { return "shard " + loading::in_quotes(shard.file); },
                    [&] {
                      const auto file = source_.companion(shard.file);
                      loading::check_shard(shard, read_file(file.bytes(), file.handle()));
                    });
  }

  /// The names of the file's tensors. The parsed header would take more memory than they do.
  std::vector<std::string_view> read_file(std::string_view bytes, const tmeter_source* file) {
    std::vector<std::string_view> names;
    const Header header(bytes);
    if (files_++ == 0) format_ = header.format();
    for (const auto& [key, text] : header.metadata()) metadata_.emplace(keep(key), keep(text));
    for (const auto& t : header.tensors()) {
      const auto size = t.end - t.begin;
      names.push_back(keep(t.name));
      kinds_.note(t.name);
      stored_.push_back({names.back(), t.dtype, t.element, t.dims, t.begin, size, file,
                         bytes.substr(static_cast<size_t>(t.begin), static_cast<size_t>(size))});
    }
    return names;
  }

  std::string_view keep(std::string_view text) {
    auto* kept = static_cast<char*>(texts_.allocate(text.size() + 1, 1));
    std::copy(text.begin(), text.end(), kept);
    return {kept, text.size()};
  }

  void push(const std::string& format) {
    push_weights(stored_, metadata_, kinds_, source_, graph_, call_);
    graph_.property("format", format);
    graph_.property("content", "weights");
    if (format_ == "pt") graph_.property("producer", "PyTorch");
  }

  tmeter::Source source_;
  tmeter::GraphBuilder& graph_;
  tmeter::Call& call_;
  size_t files_ = 0;
  std::string format_;  // format of the first file
  std::pmr::monotonic_buffer_resource texts_;
  std::vector<packed::Stored> stored_;
  packed::Metadata metadata_;
  loading::TensorKinds kinds_{loading::model_types_beside(source_)};
};

void load(const tmeter::Request& request, tmeter::GraphBuilder& graph, tmeter::Call& call) {
  try {
    Load(request, graph, call).run();
  } catch (const BadFile& e) {
    const std::string advice =
        e.advice().empty() ? "the file is damaged; save or download it again" : e.advice();
    throw tmeter::Error(TMETER_BAD_MODEL, std::string(e.what()) + "; " + advice);
  }
}

}  // namespace
}  // namespace safetensors

TMETER_PLUGIN_INFO(
    (tmeter::PluginInfo{
        .id = "org.tmeter.safetensors",
        .version = "1.0.0",
        .description = "Reads safetensors files, also sharded ones, without reading weights",
    }),
    [](tmeter::Registrar& r) {
      // "{" after the length of the header; the index of shards.
      r.loader("safetensors", "safetensors file",
               {{"at:8:7b", 50}, {"name:*.safetensors", 40}, {"magic:7b name:*.index.json", 60}},
               safetensors::load);
    })
