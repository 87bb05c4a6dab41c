#include "settings.hpp"

#include <algorithm>
#include <iterator>

namespace blueprint {
namespace {

constexpr std::string_view kSpace = "config.json";
constexpr int64_t kMaxSetting = int64_t{1} << 40;
/// The part of a composed configuration that is the language model; its keys come first.
constexpr std::string_view kInner[] = {"text_config.", "llm_config."};
/// Keys of the whole model: those outside of the inner part come first.
constexpr std::string_view kOfTheWhole[] = {"model_type", "architectures", "tie_word_embeddings"};

}  // namespace

Settings::Settings(const tmeter::Graph& weights) : source_(kSpace) {
  for (const auto& m : weights.metadata()) {
    if (m.space() != kSpace) continue;
    auto key = m.key();
    bool inner = false;
    for (const auto prefix : kInner)
      if (key.starts_with(prefix)) key.remove_prefix(prefix.size()), inner = true;
    const auto* whole = std::find(std::begin(kOfTheWhole), std::end(kOfTheWhole), key);
    if (inner == (whole == std::end(kOfTheWhole)))
      facts_.insert_or_assign(std::string(key), m);
    else
      facts_.emplace(std::string(key), m);
  }
}

void Settings::set(std::string_view key, const tmeter::Metadata& value) {
  facts_.insert_or_assign(std::string(key), value);
}

void Settings::set(std::string_view key, std::vector<std::string> texts) {
  texts_.insert_or_assign(std::string(key), std::move(texts));
}

void Settings::set(std::string_view key, int64_t number) {
  numbers_.insert_or_assign(std::string(key), number);
}

std::optional<int64_t> Settings::find_number(const Keys& keys) const {
  for (const auto key : keys)
    if (const auto it = numbers_.find(key); it != numbers_.end()) return it->second;
  return std::nullopt;
}

const std::vector<std::string>* Settings::find_texts(const Keys& keys) const {
  for (const auto key : keys)
    if (const auto it = texts_.find(key); it != texts_.end()) return &it->second;
  return nullptr;
}

const tmeter::Metadata* Settings::find(const Keys& keys) const {
  for (const auto key : keys)
    if (const auto it = facts_.find(key); it != facts_.end()) return &it->second;
  return nullptr;
}

std::string_view Settings::name(const Keys& keys) const {
  const auto* m = find(keys);
  return m ? m->key() : *keys.begin();
}

std::string Settings::statement(const Keys& keys, int64_t value) const {
  return std::string(name(keys)) + " is " + std::to_string(value);
}

int64_t Settings::checked(const tmeter::Metadata& m, uint32_t i) const {
  const auto what = source_ + ": " + std::string(m.key());
  if (m.type() == TMETER_METADATA_FLOAT) {
    const auto value = m.as_float(0, i);
    if (value >= 0 && value <= 1e12 && value == static_cast<double>(static_cast<int64_t>(value)))
      return static_cast<int64_t>(value);
  }
  if (m.type() != TMETER_METADATA_INT) throw BadNumber(what + " is not an integer");
  const auto value = m.as_int(-1, i);
  if (value < 0 || value > kMaxSetting)
    throw BadNumber(what + " is " + std::to_string(value) + ", which no model has");
  return value;
}

std::optional<int64_t> Settings::integer(const Keys& keys) const {
  if (const auto number = find_number(keys)) return number;
  const auto* m = find(keys);
  if (!m || m->is_array()) return std::nullopt;
  return checked(*m, 0);
}

std::optional<int64_t> Settings::integer_of_layer(const Keys& keys, size_t layer) const {
  if (const auto number = find_number(keys)) return number;
  const auto* m = find(keys);
  if (!m) return std::nullopt;
  if (!m->is_array()) return checked(*m, 0);
  if (layer >= m->size()) return std::nullopt;
  return checked(*m, static_cast<uint32_t>(layer));
}

std::optional<double> Settings::number(const Keys& keys) const {
  const auto* m = find(keys);
  if (!m || m->is_array()) return std::nullopt;
  if (m->type() == TMETER_METADATA_FLOAT) return m->as_float();
  return static_cast<double>(checked(*m, 0));
}

bool Settings::flag(const Keys& keys, bool fallback) const {
  const auto* m = find(keys);
  return m ? m->as_int(fallback ? 1 : 0) != 0 : fallback;
}

std::string_view Settings::text(const Keys& keys) const {
  if (find_texts(keys)) return text_of_layer(keys, 0);
  const auto* m = find(keys);
  return m ? m->text() : std::string_view();
}

std::string_view Settings::text_of_layer(const Keys& keys, size_t layer) const {
  if (const auto* texts = find_texts(keys))
    return layer < texts->size() ? std::string_view((*texts)[layer]) : std::string_view();
  const auto* m = find(keys);
  return m ? m->text(m->is_array() ? static_cast<uint32_t>(layer) : 0) : std::string_view();
}

size_t Settings::length(const Keys& keys) const {
  const auto* m = find(keys);
  return m && m->is_array() ? m->size() : 0;
}

}  // namespace blueprint
