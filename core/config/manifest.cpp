#include "core/config/manifest.hpp"

#include <cstdint>
#include <limits>
#include <optional>
#include <sstream>
#include <tuple>
#include <utility>

#include "core/base/text.hpp"
#include "core/config/toml_util.hpp"

namespace tmeter::core {
namespace {

/// The members of a table of the manifest. An absent one is empty or 0; one of another type is an
/// error with its place.
class Members {
 public:
  Members(const toml::table& table, const std::string& path) : table_(table), path_(path) {}

  std::string text(const char* key) const {
    const auto* node = table_.get(key);
    return node ? text_of(*node, key) : std::string();
  }
  template <class T>
  T number(const char* key) const {
    const auto* node = table_.get(key);
    if (!node) return 0;
    const auto value = node->value_exact<int64_t>();
    if (!value || !std::in_range<T>(*value))
      refuse(*node, key,
             "a whole number from " + std::to_string(std::numeric_limits<T>::min()) + " to " +
                 std::to_string(std::numeric_limits<T>::max()));
    return static_cast<T>(*value);
  }
  std::vector<std::string> texts(const char* key) const {
    std::vector<std::string> out;
    for (const auto* node : items(key)) out.push_back(text_of(*node, key));
    return out;
  }
  std::vector<Members> tables(const char* key) const {
    std::vector<Members> out;
    for (const auto* node : items(key)) out.push_back(table_of(*node, key));
    return out;
  }
  std::optional<Members> table(const char* key) const {
    const auto* node = table_.get(key);
    return node ? std::optional(table_of(*node, key)) : std::nullopt;
  }

 private:
  std::vector<const toml::node*> items(const char* key) const {
    std::vector<const toml::node*> out;
    const auto* node = table_.get(key);
    if (!node) return out;
    const auto* list = node->as_array();
    if (!list) refuse(*node, key, "a list");
    for (const auto& item : *list) out.push_back(&item);
    return out;
  }
  std::string text_of(const toml::node& node, const char* key) const {
    const auto* value = node.as_string();
    if (!value) refuse(node, key, "a string");
    return value->get();
  }
  Members table_of(const toml::node& node, const char* key) const {
    const auto* value = node.as_table();
    if (!value) refuse(node, key, "a table");
    return {*value, path_};
  }
  [[noreturn]] void refuse(const toml::node& node, const char* key,
                           const std::string& expected) const {
    toml_error(ErrorKind::kPlugin, path_, node.source(),
               "'" + std::string(key) + "': " + expected + " is expected");
  }

  const toml::table& table_;
  const std::string& path_;
};

toml::array to_array(const std::vector<std::string>& items) {
  toml::array out;
  for (const auto& item : items) out.push_back(item);
  return out;
}

}  // namespace

bool same_offer(const Manifest& a, const Manifest& b) {
  const auto offer = [](const Manifest& m) {
    return std::tie(m.id, m.name, m.version, m.needs, m.metrics, m.options, m.handles,
                    m.shape_rules, m.loaders, m.decoders, m.propagators, m.writers, m.executors,
                    m.measured, m.rights, m.abi_minor);
  };
  return offer(a) == offer(b);
}

Manifest read_manifest(const std::string& path) {
  const auto root = parse_toml_file(ErrorKind::kPlugin, path);
  const Members doc(root, path);
  Manifest m;
  m.id = doc.text("id");
  m.name = doc.text("name");
  m.version = doc.text("version");
  m.description = doc.text("description");
  m.unavailable = doc.text("unavailable");
  m.needs = doc.texts("needs");
  m.metrics = doc.texts("metrics");
  m.options = doc.texts("options");
  m.handles = doc.texts("handles");
  m.decoders = doc.texts("decoders");
  m.propagators = doc.texts("propagators");
  m.shape_rules = doc.texts("shape_rules");
  m.executors = doc.texts("executors");
  m.measured = doc.texts("measured");
  m.rights = doc.text("rights");
  m.library_folders = doc.texts("library_folders");
  m.when_missing = doc.text("when_missing");
  m.schema = doc.number<uint32_t>("schema");
  m.abi_minor = doc.number<uint32_t>("abi_minor");
  if (const auto library = doc.table("library")) {
    m.made_from = {static_cast<uint64_t>(library->number<int64_t>("size")),
                   library->number<int64_t>("mtime"), library->text("sha256"),
                   library->text("build_id")};
  }
  for (const auto& l : doc.tables("loader")) {
    LoaderManifest loader{l.text("name"), l.text("title"), {}};
    for (const auto& x : l.tables("match")) {
      const auto score = x.number<int32_t>("score");
      if (score < 1 || score > 100)
        throw Error(ErrorKind::kPlugin, path + ": loader '" + printable(loader.name) +
                                            "' has a match with a score of " +
                                            std::to_string(score) + "; scores are 1 to 100");
      loader.matches.push_back({x.text("conditions"), score});
    }
    m.loaders.push_back(std::move(loader));
  }
  for (const auto& w : doc.tables("writer"))
    m.writers.push_back({w.text("name"), w.text("extension"), w.text("media_type")});
  if (m.id.empty() || m.name.empty())
    throw Error(ErrorKind::kPlugin, path + ": 'id' or 'name' is missing");
  return m;
}

std::string write_manifest(const Manifest& m) {
  toml::table doc{{"schema", int64_t{m.schema}},
                  {"abi_minor", int64_t{m.abi_minor}},
                  {"id", m.id},
                  {"name", m.name},
                  {"version", m.version},
                  {"description", m.description}};
  doc.insert("needs", to_array(m.needs));
  doc.insert("metrics", to_array(m.metrics));
  doc.insert("options", to_array(m.options));
  if (!m.handles.empty()) doc.insert("handles", to_array(m.handles));
  if (!m.decoders.empty()) doc.insert("decoders", to_array(m.decoders));
  if (!m.propagators.empty()) doc.insert("propagators", to_array(m.propagators));
  if (!m.shape_rules.empty()) doc.insert("shape_rules", to_array(m.shape_rules));
  if (!m.executors.empty()) doc.insert("executors", to_array(m.executors));
  if (!m.measured.empty()) doc.insert("measured", to_array(m.measured));
  if (!m.rights.empty()) doc.insert("rights", m.rights);
  if (!m.library_folders.empty()) doc.insert("library_folders", to_array(m.library_folders));
  if (!m.when_missing.empty()) doc.insert("when_missing", m.when_missing);
  doc.insert("library", toml::table{{"size", static_cast<int64_t>(m.made_from.size)},
                                    {"mtime", m.made_from.mtime},
                                    {"sha256", m.made_from.sha256},
                                    {"build_id", m.made_from.build_id}});
  toml::array loaders, writers;
  for (const auto& l : m.loaders) {
    toml::array matches;
    for (const auto& x : l.matches)
      matches.push_back(toml::table{{"conditions", x.conditions}, {"score", x.score}});
    loaders.push_back(
        toml::table{{"name", l.name}, {"title", l.title}, {"match", std::move(matches)}});
  }
  for (const auto& w : m.writers) {
    writers.push_back(
        toml::table{{"name", w.name}, {"extension", w.extension}, {"media_type", w.media_type}});
  }
  if (!loaders.empty()) doc.insert("loader", std::move(loaders));
  if (!writers.empty()) doc.insert("writer", std::move(writers));
  std::ostringstream out;
  out << "# Made by `tmeter plugin manifest` from the library beside it.\n" << doc << "\n";
  return out.str();
}

}  // namespace tmeter::core
