// Files: each input becomes a file in memory, either whole or as the one relevant entry of an
// archive.
#include <cstdlib>
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
  constexpr int64_t kMostElements = 1 << 20;
  const app::SampleFile file(input);
  const tmeter_source source(file.path());
  const tmeter_request request{&source, false, {}};
  core::CallLog log;
  const auto model = core::load_model(registry(), request, {&log, nullptr, nullptr});
  core::Decoders decoders(registry(), *model.graph, log);
  const core::TensorBytes bytes(source.file, &decoders);
  core::ElementBuffer buffer;
  for (const auto& t : model.graph->tensors())
    if (t.numel > 0 && t.numel <= kMostElements && bytes.unavailable(t).empty())
      bytes.view(t, 0, t.numel, buffer);
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
    {"zip", zip},       {"pt2", program},       {"pickle", pickle},     {"file", load},
    {"gguf", gguf},     {"manifest", manifest}, {"settings", settings}, {"hardware", hardware},
    {"report", report}, {"merge", merge}};

}  // namespace

std::span<const Target> file_targets() { return kTargets; }

}  // namespace tmeter::fuzz
