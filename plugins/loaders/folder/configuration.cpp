#include "configuration.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "../common/json_text.hpp"

namespace folder {
namespace {

namespace json = loading::json;
using loading::BadFile;
using Type = json::element_type;

constexpr size_t kMaxBytes = 16'000'000;
// Long, and irrelevant for a model's structure: names of classes.
constexpr std::array<std::string_view, 2> kLeftOut{"id2label", "label2id"};

class Flattening {
 public:
  Flattening(std::string_view space, tmeter::GraphBuilder& graph) : space_(space), graph_(graph) {}

  void object(json::object o) {
    const auto outer = path_.size();
    for (const auto field : o) {
      if (std::find(kLeftOut.begin(), kLeftOut.end(), field.key) != kLeftOut.end() ||
          field.key.empty())
        continue;
      if (outer > 0) path_ += '.';
      path_ += field.key;
      value(field.value);
      path_.resize(outer);
    }
  }

 private:
  void value(json::element e) {
    switch (e.type()) {
      case Type::OBJECT:
        return object(e.get_object().value_unsafe());
      case Type::ARRAY:
        return array(e.get_array().value_unsafe());
      case Type::STRING:
        return graph_.metadata(space_, path_, e.get_string().value_unsafe());
      case Type::BOOL:
        return graph_.metadata(space_, path_, e.get_bool().value_unsafe());
      case Type::INT64:
        return graph_.metadata(space_, path_, e.get_int64().value_unsafe());
      case Type::UINT64:
      case Type::DOUBLE:
        return graph_.metadata(space_, path_, e.get_double().value_unsafe());
      default:
        return;  // null counts as absent
    }
  }

  void array(json::array a) {
    std::vector<int64_t> integers;
    std::vector<double> reals;
    std::vector<tmeter_str> texts;
    bool is_bool = true, is_int = true, is_real = true, is_text = true;
    for (const auto item : a) {
      const auto type = item.type();
      is_bool &= type == Type::BOOL;
      is_int &= type == Type::INT64;
      is_real &= type == Type::INT64 || type == Type::DOUBLE || type == Type::UINT64;
      is_text &= type == Type::STRING;
      if (type == Type::BOOL) integers.push_back(item.get_bool().value_unsafe() ? 1 : 0);
      if (type == Type::INT64) integers.push_back(item.get_int64().value_unsafe());
      if (is_real) reals.push_back(item.get_double().value_unsafe());
      if (type == Type::STRING) texts.push_back(tmeter::to_abi(item.get_string().value_unsafe()));
    }
    if (a.size() == 0 || is_int)
      return graph_.metadata(space_, path_, std::span<const int64_t>(integers));
    if (is_bool) return graph_.metadata_bools(space_, path_, integers);
    if (is_real) return graph_.metadata(space_, path_, std::span<const double>(reals));
    if (is_text) return graph_.metadata(space_, path_, std::span<const tmeter_str>(texts));
    graph_.metadata(space_, path_, std::string_view(simdjson::to_string(a)));
  }

  std::string_view space_;
  std::string path_;  // of the current key: nested keys of many bytes share it
  tmeter::GraphBuilder& graph_;
};

}  // namespace

JsonFile::JsonFile(std::string_view text) {
  if (text.size() > kMaxBytes) throw BadFile("it has more than 16 MB, which no configuration has");
  const auto error = loading::parse_json(text, false, document_);
  root_ = loading::as_object(loading::require_json(error, document_));
}

void push_configuration(std::string_view text, std::string_view space,
                        tmeter::GraphBuilder& graph) {
  const JsonFile file(text);
  Flattening(space, graph).object(file.root());
}

}  // namespace folder
