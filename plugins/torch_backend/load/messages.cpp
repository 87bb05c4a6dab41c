#include "load/messages.hpp"

#include <algorithm>
#include <array>

#include "libtorch.hpp"

namespace tmeter::torch_backend {
namespace {

constexpr size_t kMaxLength = 300;

std::string_view trimmed(std::string_view s) {
  constexpr std::string_view kSpace = " \t\r\n";
  const auto begin = s.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return s.substr(begin, s.find_last_not_of(kSpace) - begin + 1);
}

/// The text behind the last `marker` at the beginning of a line; empty when there is none.
std::string_view after_last_line_mark(std::string_view text, std::string_view marker) {
  for (auto at = text.rfind(marker); at != std::string_view::npos;
       at = text.rfind(marker, at - 1)) {
    if (at == 0 || text[at - 1] == '\n') return text.substr(at + marker.size());
    // not at a line's start: look further up
  }
  return {};
}

std::string_view first_line(std::string_view text) {
  text = trimmed(text);
  return trimmed(text.substr(0, text.find('\n')));
}

/// Loading errors whose cause is known: what LibTorch says → what it means.
struct Known {
  std::string_view says;
  std::string_view before;  // our words around the name found behind `says`
  std::string_view after;
};
constexpr std::array<Known, 4> kKnown{{
    {"Unknown builtin op: ", "the model uses the operator ",
     ", which this LibTorch does not have (an extension library's, or a newer torch's)"},
    {"Tried to instantiate class '__torch__.torch.classes.", "the model needs the custom class ",
     ", which this LibTorch does not have"},
    {"Unknown type name '__torch__.torch.classes.", "the model needs the custom class ",
     ", which this LibTorch does not have"},
    {"__torch__.torch.classes.", "the model needs the custom class ",
     ", which this LibTorch does not have"},
}};

bool part_of_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == ':' || c == '.';
}

std::string explained(std::string_view text) {
  for (const auto& k : kKnown) {
    const auto at = text.find(k.says);
    if (at == std::string_view::npos) continue;
    auto name = text.substr(at + k.says.size());
    const auto end = std::find_if_not(name.begin(), name.end(), part_of_name);
    name = name.substr(0, static_cast<size_t>(end - name.begin()));
    while (name.ends_with('.') || name.ends_with(':')) name.remove_suffix(1);
    return std::string(k.before) + std::string(name) + std::string(k.after);
  }
  return {};
}

std::string text_of(const std::exception& error) {
  const auto* e = dynamic_cast<const c10::Error*>(&error);
  return e ? e->what_without_backtrace() : error.what();
}

}  // namespace

std::string short_reason(std::string_view text) {
  auto line = first_line(after_last_line_mark(text, "RuntimeError: "));
  if (line.empty()) line = first_line(after_last_line_mark(text, "torch.jit.Error: "));
  if (line.empty()) line = first_line(text);
  const auto trace = line.find(" (Exception raised from");
  line = line.substr(0, std::min(trace, kMaxLength));
  return line.empty() ? "no reason given" : std::string(line);
}

std::string short_reason(const std::exception& error) { return short_reason(text_of(error)); }

void rethrow_as_bad_model(std::string_view record) {
  try {
    throw;
  } catch (const Error&) {
    throw;
  } catch (const std::exception& e) {
    const auto text = text_of(e);
    const auto known = explained(text);
    if (!known.empty()) throw Error(TMETER_BAD_MODEL, known);
    throw Error(TMETER_BAD_MODEL, "'" + std::string(record) +
                                      "' cannot be read, the archive is damaged or of another "
                                      "version: " +
                                      short_reason(text));
  }
}

}  // namespace tmeter::torch_backend
