#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <tmeter/cpp/base.hpp>
#include <vector>

#include "torchscript/archive/checks.hpp"

namespace tmeter::torch_backend {
namespace {

constexpr uint32_t kMaxNesting = 500;
constexpr uint64_t kMaxSize = 50'000'000;  // values; a model of a million modules has fewer

/// The effect of an opcode on the stack.
enum class Effect {
  kPush,  // + 1
  kNothing,
  kMark,
  kToMark,     // pops to the mark, pushes a container of these values
  kIntoBelow,  // pops to the mark, adds to the container below it
  kPopOne,     // pops `pops`, adds to the container below
  kReplace,    // pops `pops`, pushes a container of them
  kPut,        // stores the top in the memo
  kGet,        // pushes from the memo
  kStop,
};

/// The layout of an opcode's argument.
enum class Argument { kNone, kOne, kTwo, kFour, kEight, kLength1, kLength4, kTwoLines };

struct Opcode {
  uint8_t code;
  Effect effect;
  Argument argument = Argument::kNone;
  uint8_t pops = 0;
};

// The opcodes of torch::jit::Pickler (torch/csrc/jit/serialization/pickler.cpp), named as in
// pickletools.
constexpr Opcode kOpcodes[] = {
    {'(', Effect::kMark},
    {'.', Effect::kStop},
    {')', Effect::kPush},
    {']', Effect::kPush},
    {'}', Effect::kPush},
    {'N', Effect::kPush},
    {0x88, Effect::kPush},
    {0x89, Effect::kPush},
    {'J', Effect::kPush, Argument::kFour},
    {'K', Effect::kPush, Argument::kOne},
    {'M', Effect::kPush, Argument::kTwo},
    {'G', Effect::kPush, Argument::kEight},
    {'X', Effect::kPush, Argument::kLength4},
    {0x8a, Effect::kPush, Argument::kLength1},
    {'c', Effect::kPush, Argument::kTwoLines},
    {0x80, Effect::kNothing, Argument::kOne},
    {'t', Effect::kToMark},
    {'l', Effect::kToMark},
    {'d', Effect::kToMark},
    {'e', Effect::kIntoBelow},
    {'u', Effect::kIntoBelow},
    {'a', Effect::kPopOne, Argument::kNone, 1},
    {'s', Effect::kPopOne, Argument::kNone, 2},
    {'b', Effect::kPopOne, Argument::kNone, 1},
    {0x85, Effect::kReplace, Argument::kNone, 1},
    {0x86, Effect::kReplace, Argument::kNone, 2},
    {0x87, Effect::kReplace, Argument::kNone, 3},
    {'R', Effect::kReplace, Argument::kNone, 2},
    {0x81, Effect::kReplace, Argument::kNone, 2},
    {'Q', Effect::kReplace, Argument::kNone, 1},
    {'q', Effect::kPut, Argument::kOne},
    {'r', Effect::kPut, Argument::kFour},
    {'h', Effect::kGet, Argument::kOne},
    {'j', Effect::kGet, Argument::kFour},
};

constexpr uint32_t kNoMemo = UINT32_MAX;

/// Size and depth of a value with everything in it; shared values count each time they occur.
struct Extent {
  uint32_t depth = 0;
  uint64_t size = 1;
};

struct Item {
  Extent extent;
  uint32_t memo = kNoMemo;  // its memo entry, updated with it
};

/// A value must not grow after its second use: it could contain itself, or more than was counted at
/// that use.
struct Memo {
  Extent extent;
  bool used = false;
};

class Checker {
 public:
  Checker(std::string_view data, std::string_view record) : data_(data), record_(record) {}

  void run() {
    while (step()) {
    }
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw Error(TMETER_BAD_MODEL, "'" + std::string(record_) + "' is damaged at byte " +
                                      std::to_string(at_) + ": " + what);
  }

  std::string_view take(size_t bytes) {
    if (bytes > data_.size() - at_) refuse("it ends in the middle");
    at_ += bytes;
    return data_.substr(at_ - bytes, bytes);
  }

  uint32_t number(size_t bytes) {
    uint32_t value = 0;
    std::memcpy(&value, take(bytes).data(), bytes);  // pickles and this machine are little-endian
    return value;
  }

  void line() {
    const auto end = data_.find('\n', at_);
    if (end == std::string_view::npos) refuse("a name has no end");
    at_ = end + 1;
  }

  /// LibTorch parses some strings as types ("List[List[…").
  void text(std::string_view content) const {
    if (!is_shallow_type(content)) refuse("a string is nested too deeply");
  }

  /// Skips the argument and returns it if it is a number.
  uint32_t argument(Argument kind) {
    switch (kind) {
      case Argument::kNone:
        return 0;
      case Argument::kOne:
        return number(1);
      case Argument::kTwo:
        return number(2);
      case Argument::kFour:
        return number(4);
      case Argument::kEight:
        return take(8), 0;
      case Argument::kLength1:
        return take(number(1)), 0;
      case Argument::kLength4:
        return text(take(number(4))), 0;
      case Argument::kTwoLines:
        return line(), line(), 0;
    }
    return 0;
  }

  /// The lowest stack size that may be popped to: values under a mark are out of reach.
  size_t floor() const { return marks_.empty() ? 0 : marks_.back(); }

  /// Removes all values from `size` on and returns their extent.
  Extent pop_to(size_t size) {
    Extent all{0, 0};
    for (size_t i = size; i < stack_.size(); ++i) {
      all.depth = std::max(all.depth, stack_[i].extent.depth);
      all.size += stack_[i].extent.size;
    }
    stack_.resize(size);
    return all;
  }

  Extent pop(size_t count) {
    if (stack_.size() < floor() + count) refuse("its stack is empty");
    return pop_to(stack_.size() - count);
  }

  Extent pop_mark() {
    if (marks_.empty()) refuse("a mark is missing");
    const auto all = pop_to(marks_.back());
    marks_.pop_back();
    return all;
  }

  Extent around(const Extent& outer, const Extent& inner) const {
    const Extent sum{std::max(outer.depth, inner.depth + 1), outer.size + inner.size};
    if (sum.depth > kMaxNesting) refuse("values are nested more than 500 deep");
    if (sum.size > kMaxSize) refuse("its shared values would expand beyond the limit");
    return sum;
  }

  void push_container(const Extent& inner) { stack_.push_back({around({}, inner), kNoMemo}); }

  void add_to_top(const Extent& inner) {
    if (stack_.size() <= floor()) refuse("its stack is empty");
    auto& top = stack_.back();
    if (top.memo != kNoMemo && memo_[top.memo].used) refuse("a value grows after it was used");
    top.extent = around(top.extent, inner);
    if (top.memo != kNoMemo) memo_[top.memo].extent = top.extent;
  }

  // The pickler numbers the memo from 0 upwards without gaps.
  void put(uint32_t id) {
    if (stack_.size() <= floor()) refuse("its stack is empty");
    if (id > memo_.size()) refuse("memo entry " + std::to_string(id) + " is out of order");
    if (id == memo_.size()) memo_.push_back({});
    auto& top = stack_.back();
    const bool again = top.memo != kNoMemo && top.memo != id;
    if (again) memo_[top.memo].used = true;
    memo_[id] = {top.extent, again};
    top.memo = id;
  }

  void get(uint32_t id) {
    if (id >= memo_.size()) refuse("memo entry " + std::to_string(id) + " does not exist");
    memo_[id].used = true;
    stack_.push_back({memo_[id].extent, id});
  }

  bool step() {
    const auto code = static_cast<uint8_t>(take(1).front());
    const auto* op = std::find_if(std::begin(kOpcodes), std::end(kOpcodes),
                                  [&](const Opcode& o) { return o.code == code; });
    if (op == std::end(kOpcodes)) refuse("unexpected opcode " + std::to_string(code));
    const auto value = argument(op->argument);
    switch (op->effect) {
      case Effect::kPush:
        stack_.push_back({});
        break;
      case Effect::kNothing:
        break;
      case Effect::kMark:
        marks_.push_back(stack_.size());
        break;
      case Effect::kToMark:
        push_container(pop_mark());
        break;
      case Effect::kIntoBelow:
        add_to_top(pop_mark());
        break;
      case Effect::kPopOne:
        add_to_top(pop(op->pops));
        break;
      case Effect::kReplace:
        push_container(pop(op->pops));
        break;
      case Effect::kPut:
        put(value);
        break;
      case Effect::kGet:
        get(value);
        break;
      case Effect::kStop:
        return pop(1), false;
    }
    return true;
  }

  std::string_view data_, record_;
  size_t at_ = 0;
  std::vector<Item> stack_;
  std::vector<size_t> marks_;
  std::vector<Memo> memo_;
};

}  // namespace

void check_pickle(std::string_view data, std::string_view record) { Checker(data, record).run(); }

}  // namespace tmeter::torch_backend
