#include "unpickler.hpp"

#include <bit>
#include <charconv>
#include <cstring>

#include "../../common/bad_file.hpp"
#include "globals.hpp"
#include "opcodes.hpp"

namespace checkpoint {
namespace {

using loading::BadFile;

constexpr uint8_t kStop = '.';

}  // namespace

Unpickler::Unpickler(std::string_view data, std::string place, uint64_t first_byte, Arena& arena)
    : data_(data), place_(std::move(place)), first_byte_(first_byte), arena_(arena) {
  none_ = make(Kind::kNone);
  true_ = make_int(1), false_ = make_int(0);
  const_cast<Value*>(true_)->kind = const_cast<Value*>(false_)->kind = Kind::kBool;
  empty_ = make(Kind::kTuple);
  for (size_t i = 0; i < small_.size(); ++i) small_[i] = make_int(static_cast<int64_t>(i));
}

void Unpickler::refuse(const std::string& what) const {
  throw BadFile((place_.empty() ? "" : place_ + " ") + "byte " +
                std::to_string(first_byte_ + opcode_at_) + ": " + what);
}

std::string_view Unpickler::take(uint64_t bytes) {
  if (bytes > data_.size() - at_) refuse("the pickle ends in the middle (truncated?)");
  at_ += bytes;
  return data_.substr(at_ - bytes, bytes);
}

uint64_t Unpickler::number(size_t bytes) {
  uint64_t value = 0;
  std::memcpy(&value, take(bytes).data(), bytes);  // both sides are little-endian
  return value;
}

std::string_view Unpickler::line() {
  const auto end = data_.substr(at_, limits::kMaxLineBytes).find('\n');
  if (end == std::string_view::npos) refuse("a line has no end");
  const auto text = data_.substr(at_, end);
  at_ += end + 1;
  return text;
}

Unpickler::Operand Unpickler::operand(Form form) {
  switch (form) {
    case Form::kNone:
      return {};
    case Form::kU1:
      return {number(1), {}, {}};
    case Form::kU2:
      return {number(2), {}, {}};
    case Form::kU4:
      return {number(4), {}, {}};
    case Form::kU8:
      return {number(8), {}, {}};
    case Form::kI4:
      return {static_cast<uint64_t>(static_cast<int32_t>(number(4))), {}, {}};
    case Form::kDouble:
      return {__builtin_bswap64(number(8)), {}, {}};
    case Form::kBytes1:
      return {0, take(number(1)), {}};
    case Form::kBytes4:
      return {0, take(number(4)), {}};
    case Form::kBytes8:
      return {0, take(number(8)), {}};
    case Form::kLine:
      return {0, line(), {}};
    case Form::kTwoLines: {
      const auto first = line();
      return {0, first, line()};
    }
  }
  return {};
}

Pickle Unpickler::run() {
  while (true) {
    opcode_at_ = at_;
    const auto code = static_cast<uint8_t>(take(1).front());
    const auto* opcode = find(code);
    if (!opcode) refuse("there is no pickle opcode " + std::to_string(code));
    if (!opcode->run)
      refuse(std::string("the opcode ") + opcode->name + ", which torch.save never writes");
    (this->*opcode->run)(operand(opcode->form));
    if (code == kStop) break;
  }
  if (!marks_.empty()) refuse("the pickle stops inside a container");
  if (getattr_) refuse_global(*getattr_, "refers to");
  const auto* root = pop();
  return {root, at_, std::move(storages_), std::move(called_)};
}

// --- stack ---------------------------------------------------------------------------------------

Value* Unpickler::make(Kind kind) {
  if (arena_.size() >= limits::kValues) refuse("more than 10,000,000 values, tmeter's limit");
  return arena_.make(kind, first_byte_ + opcode_at_);
}

Value* Unpickler::make_int(int64_t integer) {
  auto* v = make(Kind::kInt);
  v->integer = integer;
  return v;
}

void Unpickler::push(const Value* value) {
  if (++references_ > limits::kReferences)
    refuse("more than 60,000,000 references, tmeter's limit");
  stack_.push_back(value);
}

void Unpickler::push_text(Kind kind, std::string_view text) {
  auto* v = make(kind);
  v->text = text;
  push(v);
}

const Value* Unpickler::pop() {
  const auto* value = top();
  stack_.pop_back();
  return value;
}

const Value* Unpickler::top() const {
  if (stack_.size() <= floor()) refuse("the stack is empty");
  return stack_.back();
}

std::vector<const Value*> Unpickler::pop_to_mark() {
  if (marks_.empty()) refuse("a mark is missing");
  const auto from = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
  std::vector<const Value*> items(from, stack_.end());
  stack_.erase(from, stack_.end());
  marks_.pop_back();
  return items;
}

Items& Unpickler::growing(Kind kind, std::string_view adding) {
  const auto* v = top();
  // Objects of unknown classes may be lists or dicts. The classes of the allow-list are neither.
  const bool own = v->is(Kind::kObject) && trust_of(*v->items->callable) != Trust::kCall;
  if (!v->is(kind) && !own) refuse(std::string(adding) + " to a value that is not a container");
  return *v->items;
}

void Unpickler::op_mark(const Operand&) {
  if (++references_ > limits::kReferences) refuse("more than 60,000,000 marks, tmeter's limit");
  marks_.push_back(stack_.size());
}
void Unpickler::op_pop(const Operand&) {
  if (!marks_.empty() && stack_.size() == marks_.back()) {
    marks_.pop_back();
  } else {
    pop();
  }
}
void Unpickler::op_pop_mark(const Operand&) { pop_to_mark(); }
void Unpickler::op_dup(const Operand&) { push(top()); }
void Unpickler::op_nothing(const Operand&) {}
void Unpickler::op_frame(const Operand& o) {
  if (o.number > data_.size() - at_) refuse("a frame reaches beyond the end (truncated?)");
}

// --- memo ----------------------------------------------------------------------------------------

void Unpickler::put(uint64_t index) {
  if (index > memo_.size() + limits::kMemoGap || index > limits::kValues)
    refuse("memo entry " + std::to_string(index) + " is out of order");
  if (index >= memo_.size()) memo_.resize(index + 1);
  memo_[index] = top();
}
void Unpickler::op_put(const Operand& o) { put(o.number); }
void Unpickler::op_memoize(const Operand&) { put(memo_.size()); }
void Unpickler::op_get(const Operand& o) {
  if (o.number >= memo_.size() || !memo_[o.number])
    refuse("memo entry " + std::to_string(o.number) + " does not exist");
  push(memo_[o.number]);
}

// --- plain values --------------------------------------------------------------------------------

void Unpickler::op_none(const Operand&) { push(none_); }
void Unpickler::op_true(const Operand&) { push(true_); }
void Unpickler::op_false(const Operand&) { push(false_); }
void Unpickler::op_unsigned(const Operand& o) {
  push(o.number < small_.size() ? small_[o.number] : make_int(static_cast<int64_t>(o.number)));
}
void Unpickler::op_signed(const Operand& o) { push(make_int(static_cast<int64_t>(o.number))); }
void Unpickler::op_float(const Operand& o) {
  auto* v = make(Kind::kFloat);
  v->real = std::bit_cast<double>(o.number);
  push(v);
}
void Unpickler::op_text(const Operand& o) { push_text(Kind::kText, o.bytes); }
void Unpickler::op_bytes(const Operand& o) { push_text(Kind::kBytes, o.bytes); }

/// Two's complement, little-endian, with the least number of bytes.
void Unpickler::op_long(const Operand& o) {
  if (o.bytes.size() > sizeof(int64_t)) return push_text(Kind::kBigInt, o.bytes);
  const bool negative = !o.bytes.empty() && (o.bytes.back() & 0x80) != 0;
  uint64_t value = negative ? ~uint64_t{0} : 0;
  std::memcpy(&value, o.bytes.data(), o.bytes.size());
  push(make_int(static_cast<int64_t>(value)));
}

/// Protocol 1 writes bools and long integers as text: "01", "123L".
void Unpickler::op_decimal(const Operand& o) {
  auto digits = o.bytes;
  if (digits == "00" || digits == "01") return push(digits == "01" ? true_ : false_);
  if (digits.ends_with('L')) digits.remove_suffix(1);
  int64_t value = 0;
  const auto* end = digits.data() + digits.size();
  const auto parsed = std::from_chars(digits.data(), end, value);
  if (parsed.ec == std::errc::result_out_of_range) return push_text(Kind::kBigInt, digits);
  if (parsed.ec != std::errc() || parsed.ptr != end) refuse("a malformed number");
  push(make_int(value));
}

// --- containers ----------------------------------------------------------------------------------

void Unpickler::op_empty_list(const Operand&) { push(make(Kind::kList)); }
void Unpickler::op_empty_dict(const Operand&) { push(make(Kind::kDict)); }
void Unpickler::op_empty_set(const Operand&) { push(make(Kind::kSet)); }
void Unpickler::op_empty_tuple(const Operand&) { push(empty_); }

void Unpickler::op_tuple(const Operand&) {
  auto* v = make(Kind::kTuple);
  v->items->list = pop_to_mark();
  push(v);
}
void Unpickler::push_tuple(size_t count) {
  auto* v = make(Kind::kTuple);
  v->items->list.resize(count);
  while (count-- > 0) v->items->list[count] = pop();
  push(v);
}
void Unpickler::op_tuple1(const Operand&) { push_tuple(1); }
void Unpickler::op_tuple2(const Operand&) { push_tuple(2); }
void Unpickler::op_tuple3(const Operand&) { push_tuple(3); }
void Unpickler::op_frozenset(const Operand&) {
  auto* v = make(Kind::kSet);
  v->items->list = pop_to_mark();
  push(v);
}

void Unpickler::op_append(const Operand&) {
  const auto* item = pop();
  growing(Kind::kList, "APPEND adds an item").list.push_back(item);
}
void Unpickler::op_appends(const Operand&) {
  const auto added = pop_to_mark();
  auto& list = growing(Kind::kList, "APPENDS adds items").list;
  list.insert(list.end(), added.begin(), added.end());
}
void Unpickler::op_add_items(const Operand&) {
  const auto added = pop_to_mark();
  auto& list = growing(Kind::kSet, "ADDITEMS adds items").list;
  list.insert(list.end(), added.begin(), added.end());
}
void Unpickler::set_items(Items& into, const std::vector<const Value*>& items) {
  if (items.size() % 2 != 0) refuse("a key without a value");
  for (size_t i = 0; i < items.size(); i += 2) {
    if (items[i]->is(Kind::kList) || items[i]->is(Kind::kDict) || items[i]->is(Kind::kSet))
      refuse("a list, dict or set cannot be a key");
    into.pairs.emplace_back(items[i], items[i + 1]);
  }
}
void Unpickler::op_set_item(const Operand&) {
  const auto* value = pop();
  const auto* key = pop();
  set_items(growing(Kind::kDict, "SETITEM adds a key"), {key, value});
}
void Unpickler::op_set_items(const Operand&) {
  const auto added = pop_to_mark();
  set_items(growing(Kind::kDict, "SETITEMS adds keys"), added);
}

}  // namespace checkpoint
