// Files: each input becomes a file in memory, either whole or as the one relevant entry of an
// archive.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "apps/tmeter/sample.hpp"
#include "core/archive/zip.hpp"
#include "core/base/error.hpp"
#include "core/config/hardware.hpp"
#include "core/config/manifest.hpp"
#include "core/config/settings.hpp"
#include "core/merging/merging.hpp"
#include "core/plugin_host/decoders.hpp"
#include "core/plugin_host/interfaces.hpp"
#include "core/plugin_host/model_loading.hpp"
#include "core/process/sandbox.hpp"
#include "core/report_reader/saved_report.hpp"
#include "tests/fuzz/targets.hpp"
#include "tests/support/zip_writer.hpp"

namespace tmeter::fuzz {
namespace {

/// The loaders of this build, opened once.
core::Registry& registry() {
  static auto* const made = [] {
    core::add_plugin_host_interfaces();
    setenv("TMETER_SANDBOX", "off", 1);  // inputs and crashes are files
    core::enter_sandbox({});
    auto* const settings = new core::Settings();  // the registry keeps a reference to them
    settings->plugin_paths = {TMETER_FUZZ_PLUGINS};
    return new core::Registry(*settings);
  }();
  return *made;
}

void load(std::string_view content) {
  const app::SampleFile file(content);
  const tmeter_source source(file.path());
  const tmeter_request request{&source, false, {}};
  core::CallLog log;
  core::load_model(registry(), request, {&log, nullptr, nullptr});
}

/// The tensors of a GGUF file, decoded.
void gguf(std::string_view input) {
  constexpr int64_t kMaxElements = 1 << 20;
  const app::SampleFile file(input);
  const tmeter_source source(file.path());
  const tmeter_request request{&source, false, {}};
  core::CallLog log;
  const auto model = core::load_model(registry(), request, {&log, nullptr, nullptr});
  core::Decoders decoders(registry(), *model.graph, log);
  const core::TensorBytes bytes(source.file, &decoders);
  core::ElementBuffer buffer;
  for (const auto& t : model.graph->tensors())
    if (t.numel > 0 && t.numel <= kMaxElements && bytes.unavailable(t).empty())
      bytes.view(t, 0, t.numel, buffer);
}

/// A file of zeros in the form of safetensors.
struct StoredTensor {
  const char *name, *type;
  std::vector<size_t> dims;
  size_t element_bytes;
};
void write_weights(const std::string& path, const std::vector<StoredTensor>& tensors) {
  std::string header;
  size_t at = 0;
  for (const auto& t : tensors) {
    std::string dims;
    size_t bytes = t.element_bytes;
    for (const auto d : t.dims) {
      dims += (dims.empty() ? "" : ",") + std::to_string(d);
      bytes *= d;
    }
    header += (header.empty() ? "{" : ",") + ('"' + std::string(t.name)) + R"(":{"dtype":")" +
              t.type + R"(","shape":[)" + dims + R"(],"data_offsets":[)" + std::to_string(at) +
              "," + std::to_string(at + bytes) + "]}";
    at += bytes;
  }
  header += '}';
  const uint64_t length = header.size();
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(&length), sizeof length);
  file << header << std::string(at, '\0');
}

/// Folders of a dense layer, of a mixture and of packed weights, made once; each input becomes the
/// config.json of all.
const std::vector<std::string>& folders() {
  static const auto* const made = [] {
    const std::vector<StoredTensor> ends{{"model.embed_tokens.weight", "F32", {100, 64}, 4},
                                         {"model.norm.weight", "F32", {64}, 4},
                                         {"lm_head.weight", "F32", {100, 64}, 4}};
    const std::vector<StoredTensor> attention{
        {"model.layers.0.input_layernorm.weight", "F32", {64}, 4},
        {"model.layers.0.post_attention_layernorm.weight", "F32", {64}, 4},
        {"model.layers.0.self_attn.q_proj.weight", "F32", {64, 64}, 4},
        {"model.layers.0.self_attn.k_proj.weight", "F32", {32, 64}, 4},
        {"model.layers.0.self_attn.v_proj.weight", "F32", {32, 64}, 4},
        {"model.layers.0.self_attn.o_proj.weight", "F32", {64, 64}, 4}};
    const std::vector<StoredTensor> dense{
        {"model.layers.0.mlp.gate_proj.weight", "F32", {128, 64}, 4},
        {"model.layers.0.mlp.up_proj.weight", "F32", {128, 64}, 4},
        {"model.layers.0.mlp.down_proj.weight", "F32", {64, 128}, 4}};
    const std::vector<StoredTensor> mixture{
        {"model.layers.0.mlp.gate.weight", "F32", {4, 64}, 4},
        {"model.layers.0.mlp.experts.gate_up_proj", "F32", {4, 64, 64}, 4},
        {"model.layers.0.mlp.experts.down_proj", "F32", {4, 64, 32}, 4},
        {"model.layers.0.mlp.shared_expert.gate_proj.weight", "F32", {96, 64}, 4},
        {"model.layers.0.mlp.shared_expert.up_proj.weight", "F32", {96, 64}, 4},
        {"model.layers.0.mlp.shared_expert.down_proj.weight", "F32", {64, 96}, 4}};
    const std::vector<StoredTensor> packed{
        {"model.layers.0.mlp.gate_proj.qweight", "I32", {8, 128}, 4},
        {"model.layers.0.mlp.gate_proj.qzeros", "I32", {2, 16}, 4},
        {"model.layers.0.mlp.gate_proj.scales", "F16", {2, 128}, 2},
        {"model.layers.0.mlp.up_proj.weight", "U32", {128, 8}, 4},
        {"model.layers.0.mlp.up_proj.scales", "F16", {128, 2}, 2},
        {"model.layers.0.mlp.up_proj.biases", "F16", {128, 2}, 2},
        {"model.layers.0.mlp.down_proj.weight", "F8_E4M3", {64, 128}, 1},
        {"model.layers.0.mlp.down_proj.weight_scale_inv", "F32", {2, 4}, 4}};
    auto* const out = new std::vector<std::string>();
    for (const auto& layer : {dense, mixture, packed}) {
      auto path = (std::filesystem::temp_directory_path() / "tmeter-fuzz-XXXXXX").string();
      if (!mkdtemp(path.data())) throw std::runtime_error("no temporary folder can be made");
      auto tensors = ends;
      for (const auto* more : {&attention, &layer})
        tensors.insert(tensors.end(), more->begin(), more->end());
      write_weights(path + "/model.safetensors", tensors);
      out->push_back(path);
    }
    std::atexit([] {
      for (const auto& path : folders()) std::filesystem::remove_all(path);
    });
    return out;
  }();
  return *made;
}

void config(std::string_view input) {
  for (const auto& path : folders()) {
    std::ofstream(path + "/config.json", std::ios::binary) << input;
    const tmeter_source source(path);
    const tmeter_request request{&source, false, {}};
    core::CallLog log;
    try {
      core::load_model(registry(), request, {&log, nullptr, nullptr});
    } catch (const core::Error&) {  // the next folder may have another answer
    }
  }
}

void zip(std::string_view input) {
  const core::ZipArchive archive(input);
  for (size_t i = 0; i < archive.entries().size(); ++i) archive.read(i);
}

void program(std::string_view input) {
  load(testing::ZipWriter::make({{"m/archive_format", "pt2"},
                                 {"m/archive_version", "0"},
                                 {"m/models/model.json", std::string(input)}}));
}

void pickle(std::string_view input) {
  load(testing::ZipWriter::make({{"m/data.pkl", std::string(input)},
                                 {"m/version", "3\n"},
                                 {"m/data/0", std::string(64, 0)}}));
}

void report(std::string_view input) { core::read_report(input); }

/// Two reports, separated by a zero byte; a single one is used twice.
void merge(std::string_view input) {
  const size_t zero = input.find('\0');
  const auto first = input.substr(0, zero);
  const auto second = zero == std::string_view::npos ? first : input.substr(zero + 1);
  const auto parts = [&] {
    std::vector<core::Part> out;
    out.push_back({"a", core::read_report(first)});
    out.push_back({"b", core::read_report(second)});
    return out;
  };
  try {
    core::ModelIndex index;
    for (const auto& part : parts()) index.add(part);
    index.finish();
  } catch (const core::Error&) {  // sums that are too large, which shards may have
  }
  core::merge_shards(parts());
}

void manifest(std::string_view input) { core::read_manifest(app::SampleFile(input).path()); }
void settings(std::string_view input) { core::read_settings(app::SampleFile(input).path()); }
void hardware(std::string_view input) { core::load_hardware(app::SampleFile(input).path(), {}); }

constexpr Target kTargets[] = {
    {"zip", zip},           {"pt2", program},   {"pickle", pickle},     {"file", load},
    {"gguf", gguf},         {"config", config}, {"manifest", manifest}, {"settings", settings},
    {"hardware", hardware}, {"report", report}, {"merge", merge}};

}  // namespace

std::span<const Target> file_targets() { return kTargets; }

}  // namespace tmeter::fuzz
