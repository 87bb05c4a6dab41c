#include "archive.hpp"

#include <algorithm>
#include <array>

#include "json_util.hpp"

namespace pt2 {
namespace {

constexpr std::string_view kModels = "models/", kJson = ".json";
constexpr std::string_view kFlatProgram = "serialized_exported_program.json";

struct Found {
  tmeter::Entry entry;
  std::string_view root;  // "resnet50/" or ""
  std::string_view name;  // "model"
};

/// ROOT/models/NAME.json with at most one folder above `models`.
std::optional<Found> as_model(const tmeter::Entry& entry) {
  const auto path = entry.name;
  size_t root = 0;
  if (!path.starts_with(kModels)) {
    root = path.find('/') + 1;
    if (root == 0 || !path.substr(root).starts_with(kModels)) return std::nullopt;
  }
  auto name = path.substr(root + kModels.size());
  if (!name.ends_with(kJson) || name.size() == kJson.size()) return std::nullopt;
  name.remove_suffix(kJson.size());
  if (name.find('/') != std::string_view::npos) return std::nullopt;
  return Found{entry, path.substr(0, root), name};
}

/// Configs have had two names; constants of torch 2.8 and older are in a pickle instead.
std::optional<tmeter::Entry> find_config(const tmeter::Source& source, const std::string& folder,
                                         const std::string& model, std::string_view kind) {
  const std::string old_kind = kind == "weights" ? "param" : std::string(kind);
  const std::array<std::string, 2> names{folder + model + "_" + std::string(kind) + "_config.json",
                                         folder + model + "_model_" + old_kind + "_config.json"};
  for (const auto& name : names)
    if (auto entry = source.find(name)) return entry;
  return std::nullopt;
}

[[noreturn]] void refuse(bool compiled, bool empty) {
  if (compiled)
    throw BadFile(
        "this is an AOTInductor package: compiled code (data/aotinductor/) without a graph",
        "analyse the file that torch.export.save writes before compiling");
  if (empty)
    throw BadFile("the archive holds no model (no models/*.json): torch.export.save did not finish",
                  "export it again and read its error message");
  throw BadFile("the archive holds no exported program");
}

Archive flat(const tmeter::Entry& program) {
  Archive a;
  a.program = program;
  return a;
}

Archive archive_of(const tmeter::Source& source, const Found& model) {
  Archive a;
  a.program = model.entry;
  a.model = model.name;
  a.weights_folder = std::string(model.root) + "data/weights/";
  a.constants_folder = std::string(model.root) + "data/constants/";
  a.weights_config = find_config(source, a.weights_folder, a.model, "weights");
  a.constants_config = find_config(source, a.constants_folder, a.model, "constants");
  return a;
}

}  // namespace

Archive locate(const tmeter::Source& source, std::string_view model_name) {
  std::vector<Found> models;
  bool compiled = false, has_format = false;
  for (size_t i = 0; i < source.entry_count(); ++i) {
    const auto entry = source.entry(i);
    if (auto m = as_model(entry)) models.push_back(*m);
    compiled = compiled || entry.name.find("data/aotinductor/") != std::string_view::npos;
    has_format = has_format || entry.name.ends_with("archive_format");
  }
  if (models.empty()) {
    if (const auto program = source.find(kFlatProgram)) return flat(*program);
    refuse(compiled, has_format);
  }
  const auto chosen =
      model_name.empty() ? models.begin() : std::ranges::find(models, model_name, &Found::name);
  std::string names;
  for (const auto& m : models) names += (names.empty() ? "" : ", ") + in_quotes(m.name);
  if (chosen == models.end())
    throw tmeter::Error(TMETER_BAD_USAGE, "--set pt2.model=" + std::string(model_name) +
                                              ": the archive has no such model; it holds " + names);
  Archive a = archive_of(source, *chosen);
  for (const auto& m : models)
    if (m.entry.index != chosen->entry.index) a.other_models.emplace_back(m.name);
  return a;
}

}  // namespace pt2
