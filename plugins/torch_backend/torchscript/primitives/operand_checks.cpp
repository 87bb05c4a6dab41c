#include "torchscript/primitives/operand_checks.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>

#include "operators/limits.hpp"

namespace tmeter::torch_backend {
namespace {

constexpr uint64_t kMaxReplaceWork = 1 << 30;  // bytes moved; each occurrence moves the rest
constexpr uint64_t kMaxTensorItems = 1 << 18;  // the limit of tensors with values
constexpr int64_t kMaxFactorial = 20;          // 21! needs more than 64 bits
constexpr int kMaxDepth = 200;

void spend(uint64_t units) {
  if (auto* limits = Limits::current()) limits->spend(units);
}

[[noreturn]] void too_large(const char* what, const char* items, uint64_t size, uint64_t limit) {
  const Error error(TMETER_CANNOT_RUN, std::string("the model makes a ") + what + " of " +
                                           std::to_string(size) + " " + items + "; at most " +
                                           std::to_string(limit) + " are allowed");
  if (auto* limits = Limits::current()) limits->stop(error);
  throw error;
}

void allow_text(uint64_t size) {
  if (size > kMaxText) too_large("text", "bytes", size, kMaxText);
  spend(size / 16);
}

void allow_list(uint64_t size) {
  if (size > kMaxItems) too_large("list", "items", size, kMaxItems);
  spend(size);
}

uint64_t text_size(const c10::IValue& v) { return v.isString() ? v.toStringRef().size() : 0; }
uint64_t list_size(const c10::IValue& v) { return v.isList() ? v.toListRef().size() : 0; }

/// Adds the number of values in `v` and the bytes of its texts; shared values count each time they
/// occur. Stops above `limit`.
void add_extent(const c10::IValue& v, uint64_t limit, int depth, uint64_t& sum) {
  if (sum > limit) return;
  if (depth > kMaxDepth) sum = limit;
  sum += 1 + text_size(v);
  if (v.isTensor() && v.toTensor().defined() && !v.toTensor().is_meta()) {
    sum += static_cast<uint64_t>(v.toTensor().numel());
  } else if (v.isTuple()) {
    for (const auto& item : v.toTupleRef().elements()) add_extent(item, limit, depth + 1, sum);
  } else if (v.isIntList() || v.isDoubleList() || v.isBoolList() || v.isTensorList()) {
    sum += list_size(v);
  } else if (v.isList()) {
    for (const c10::IValue& item : v.toListRef()) add_extent(item, limit, depth + 1, sum);
  } else if (v.isGenericDict()) {
    for (const auto& entry : v.toGenericDict()) {
      add_extent(entry.key(), limit, depth + 1, sum);
      add_extent(entry.value(), limit, depth + 1, sum);
    }
  }
}

uint64_t extent(Operands operands, uint64_t limit) {
  uint64_t sum = 0;
  for (const auto& v : operands) add_extent(v, limit, 0, sum);
  spend(std::min(sum, limit));
  return sum;
}

}  // namespace

void check_division(Operands operands) {
  const auto& a = operands[0];
  const auto& b = operands[1];
  if (!a.isInt() || !b.isInt()) return;
  if (b.toInt() == 0) throw std::runtime_error("division by zero");
  if (a.toInt() == std::numeric_limits<int64_t>::min() && b.toInt() == -1)
    throw std::runtime_error("division of the smallest integer by -1, which has no result");
}

void check_factorial(Operands operands) {
  if (operands[0].isInt() && operands[0].toInt() > kMaxFactorial)
    throw std::runtime_error("factorial of more than " + std::to_string(kMaxFactorial));
}

void check_text_sum(Operands operands) {
  allow_text(text_size(operands[0]) + text_size(operands[1]));
}

void check_join(Operands operands) {
  uint64_t size = 0;
  if (!operands[1].isList()) return;
  for (const c10::IValue& text : operands[1].toListRef())
    size += text_size(operands[0]) + text_size(text);
  allow_text(size);
}

void check_replace(Operands operands) {
  check_needle(operands);
  const auto size = text_size(operands[0]), old = text_size(operands[1]);
  if (old == 0) return;
  const auto most = size / old * std::max(old, text_size(operands[2])) + old;
  const auto work = size / old * most;
  if (work > kMaxReplaceWork) too_large("replacement", "bytes", work, kMaxReplaceWork);
  allow_text(most);
  spend(work / 16);
}

void check_needle(Operands operands) {
  if (operands[1].isString() && operands[1].toStringRef().empty())
    throw std::runtime_error("empty text to look for");
  spend(text_size(operands[0]));
}

void check_width(Operands operands) {
  const auto width = operands[1].isInt() ? operands[1].toInt() : 0;
  allow_text(text_size(operands[0]) + static_cast<uint64_t>(std::max<int64_t>(width, 0)));
}

void check_tabs(Operands operands) {
  const auto width = operands[1].isInt() ? operands[1].toInt() : 0;
  const auto each = std::clamp<int64_t>(width, 1, kMaxText + 1);
  allow_text(text_size(operands[0]) * static_cast<uint64_t>(each));
}

void check_printed(Operands operands) { allow_text(extent(operands, kMaxText)); }

void check_list_sum(Operands operands) {
  allow_list(list_size(operands[0]) + list_size(operands[1]));
}

void check_list_product(Operands operands) {
  const bool list_first = operands[0].isList();
  const auto size = list_size(operands[list_first ? 0 : 1]);
  const auto& count = operands[list_first ? 1 : 0];
  const auto times = count.isInt() ? std::max<int64_t>(count.toInt(), 0) : 0;
  uint64_t product = 0;
  if (__builtin_mul_overflow(size, static_cast<uint64_t>(times), &product)) product = UINT64_MAX;
  allow_list(product);
}

void check_one_more(Operands operands) {
  const auto size = list_size(operands[0]) + 1;
  if (size > kMaxItems) too_large("list", "items", size, kMaxItems);
  spend(10);
}

void check_range(Operands operands) {
  const auto count = operands[0].isInt() ? std::max<int64_t>(operands[0].toInt(), 0) : 0;
  allow_list(static_cast<uint64_t>(count));
}

void check_tensor_of(Operands operands) {
  const auto size = extent(operands.slice(0, 1), kMaxTensorItems);
  if (size > kMaxTensorItems) too_large("tensor of a list", "numbers", size, kMaxTensorItems);
}

}  // namespace tmeter::torch_backend
