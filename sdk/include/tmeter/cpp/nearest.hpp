// The name that the user meant: refuse an unknown word with did_you_mean(word, known) in the
// message.
#pragma once
#include <algorithm>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "base.hpp"

TMETER_SDK_BEGIN

namespace detail {

inline size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0]++;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t substitute = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substitute});
    }
  }
  return row.back();
}

/// Drops case and separators, which people omit: "nvidia-rtx-4090" becomes "nvidiartx4090".
inline std::string letters_and_digits(std::string_view text) {
  std::string out;
  for (const char c : text)
    if (c != '-' && c != '_' && c != '.' && c != ' ')
      out += c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return out;
}

/// The only candidate that contains `word`, compared without case and separators; of several, the
/// only one that ends with it. Empty if that does not decide.
template <class Names>
std::string only_one_around(std::string_view word, const Names& candidates) {
  const auto plain = letters_and_digits(word);
  if (plain.size() < 3) return {};
  std::vector<std::string> inside, at_end;
  for (const auto& candidate : candidates) {
    const auto letters = letters_and_digits(candidate);
    if (letters.find(plain) == std::string::npos) continue;
    inside.emplace_back(candidate);
    if (letters.ends_with(plain)) at_end.emplace_back(candidate);
  }
  if (inside.size() == 1) return inside.front();
  return at_end.size() == 1 ? at_end.front() : std::string();
}

}  // namespace detail

/// The nearest of the candidates, a range of strings: `word` itself, else one that begins with it
/// (of at least three letters), else the one with the smallest edit distance, else the only one
/// that contains it
/// ("a100" in "nvidia-a100"). Empty if none is close enough.
template <class Names = std::vector<std::string_view>>
std::string nearest(std::string_view word, const Names& candidates) {
  constexpr size_t kLongestWord = 256;  // a longer text is not a typing error
  if (word.empty() || word.size() > kLongestWord) return {};
  const bool is_short = word.size() < 3;
  std::string best;
  size_t best_distance = (is_short ? 1 : std::max<size_t>(2, word.size() / 3)) + 1;
  for (const std::string_view candidate : candidates) {
    if (candidate == word) return std::string(word);
    const bool begins = !is_short && candidate.starts_with(word);
    const size_t longer = std::max(word.size(), candidate.size()),
                 shorter = std::min(word.size(), candidate.size());
    if (!begins && longer - shorter >= best_distance) continue;  // the distance is at least this
    const size_t distance = begins ? 0 : detail::edit_distance(word, candidate);
    if (distance < best_distance) best_distance = distance, best = candidate;
  }
  return best.empty() ? detail::only_one_around(word, candidates) : best;
}

/// " (did you mean 'flops'?)", or nothing.
template <class Names = std::vector<std::string_view>>
std::string did_you_mean(std::string_view word, const Names& candidates) {
  const auto best = nearest(word, candidates);
  return best.empty() ? std::string() : " (did you mean '" + best + "'?)";
}

TMETER_SDK_END
