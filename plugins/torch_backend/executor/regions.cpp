#include <algorithm>
#include <charconv>

#include "executor/program.hpp"

namespace tmeter::torch_backend {
namespace {

[[noreturn]] void unusable_regions() {
  throw Error(TMETER_CANNOT_RUN, "the graph describes its control flow in an unknown form");
}

/// Reads the words of a line in turn.
class WordReader {
 public:
  explicit WordReader(std::string_view text) : text_(text) {}

  std::string_view next() {
    text_.remove_prefix(std::min(text_.find_first_not_of(' '), text_.size()));
    const auto word = text_.substr(0, text_.find(' '));
    text_.remove_prefix(word.size());
    return word;
  }
  size_t number() { return parse(next()); }
  static size_t parse(std::string_view word) {
    size_t n = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), n);
    if (error != std::errc() || end != word.data() + word.size()) unusable_regions();
    return n;
  }

 private:
  std::string_view text_;
};

Value value_at(const Graph& graph, std::string_view place) {
  Value value;
  if (place.starts_with('i')) {
    const auto i = WordReader::parse(place.substr(1));
    if (i < graph.inputs().size()) value = graph.inputs()[i];
  } else if (place.starts_with('n')) {
    const auto dot = place.find('.');
    if (dot == std::string_view::npos) unusable_regions();
    const auto node = WordReader::parse(place.substr(1, dot - 1));
    if (node < graph.nodes().size())
      value = graph.nodes()[node].result(WordReader::parse(place.substr(dot + 1)));
  }
  if (!value.handle()) unusable_regions();
  return value;
}

/// Values up to ':' or the end of the line.
std::vector<Value> values_at(const Graph& graph, WordReader& words) {
  std::vector<Value> out;
  for (auto word = words.next(); !word.empty() && word != ":"; word = words.next())
    out.push_back(value_at(graph, word));
  return out;
}

Region region_of(const Graph& graph, std::string_view line) {
  const auto bar = line.find(" | ");
  if (bar == std::string_view::npos) unusable_regions();
  WordReader words(line.substr(0, bar));
  Region out;
  out.place = line.substr(bar + 3);
  out.is_loop = words.next() == "while";
  out.begin = words.number();
  if (!out.is_loop) {
    out.taken = words.number() != 0;
    out.end = out.begin;
    out.condition = value_at(graph, words.next());
    return out;
  }
  out.body = words.number();
  out.end = words.number();
  out.condition = value_at(graph, words.next());
  words.next();  // ":"
  out.carried = values_at(graph, words);
  out.results = values_at(graph, words);
  if (out.carried.size() != out.results.size() || out.body < out.begin || out.end < out.body)
    unusable_regions();
  return out;
}

}  // namespace

std::vector<Region> regions_of(const Graph& graph) {
  if (const auto why = graph.property("control-flow"); !why.empty())
    throw Error(TMETER_CANNOT_RUN, std::string(why));
  std::vector<Region> out;
  auto text = graph.property("regions");
  while (!text.empty()) {
    const auto line = text.substr(0, text.find('\n'));
    out.push_back(region_of(graph, line));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  std::ranges::stable_sort(out, [](const Region& a, const Region& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
  });
  return out;
}

}  // namespace tmeter::torch_backend
