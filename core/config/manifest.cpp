#include "core/config/manifest.hpp"

#include <sstream>
#include <tuple>

#include "core/config/toml_util.hpp"

namespace tmeter::core {
namespace {

std::string text(const toml::table& t, const char* key) { return t[key].value_or(std::string()); }

template <class T>
T number(const toml::table& t, const char* key) {
  return static_cast<T>(t[key].value_or(int64_t{0}));
}

std::vector<std::string> texts(const toml::table& t, const char* key) {
  std::vector<std::string> out;
  if (const auto* list = t[key].as_array()) {
    for (const auto& item : *list) out.push_back(item.value_or(std::string()));
  }
  return out;
}

/// The tables of an array of tables.
std::vector<const toml::table*> tables(const toml::table& t, const char* key) {
  std::vector<const toml::table*> out;
  if (const auto* list = t[key].as_array()) {
    for (const auto& item : *list) {
      if (const auto* table = item.as_table()) out.push_back(table);
    }
  }
  return out;
}

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
  const auto doc = parse_toml_file(ErrorKind::kPlugin, path);
  Manifest m;
  m.id = text(doc, "id");
  m.name = text(doc, "name");
  m.version = text(doc, "version");
  m.description = text(doc, "description");
  m.unavailable = text(doc, "unavailable");
  m.needs = texts(doc, "needs");
  m.metrics = texts(doc, "metrics");
  m.options = texts(doc, "options");
  m.handles = texts(doc, "handles");
  m.decoders = texts(doc, "decoders");
  m.propagators = texts(doc, "propagators");
  m.shape_rules = texts(doc, "shape_rules");
  m.executors = texts(doc, "executors");
  m.measured = texts(doc, "measured");
  m.rights = text(doc, "rights");
  m.library_folders = texts(doc, "library_folders");
  m.when_missing = text(doc, "when_missing");
  m.schema = number<uint32_t>(doc, "schema");
  m.abi_minor = number<uint32_t>(doc, "abi_minor");
  if (const auto* library = doc["library"].as_table()) {
    m.made_from = {number<uint64_t>(*library, "size"), number<int64_t>(*library, "mtime"),
                   text(*library, "sha256"), text(*library, "build_id")};
  }
  for (const auto* l : tables(doc, "loader")) {
    LoaderManifest loader{text(*l, "name"), text(*l, "title"), {}};
    for (const auto* x : tables(*l, "match")) {
      const auto score = (*x)["score"].value_or(int32_t{0});
      if (score < 1 || score > 100)
        throw Error(ErrorKind::kPlugin, path + ": loader '" + loader.name + "' has a match with a score of " +
                                            std::to_string(score) + "; scores are 1 to 100");
      loader.matches.push_back({text(*x, "conditions"), score});
    }
    m.loaders.push_back(std::move(loader));
  }
  for (const auto* w : tables(doc, "writer")) {
    m.writers.push_back({text(*w, "name"), text(*w, "extension"), text(*w, "media_type")});
  }
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
