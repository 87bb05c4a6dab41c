// Reads one pickle into plain data. Never calls a function and never looks up a name.
//
// Supports the opcodes that torch.save writes with protocols 1 to 5, and refuses the others by
// name. Memory and time are bounded: values, references, memo and strings have limits, nothing
// recurses, and every opcode consumes at least one byte of the file.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tmeter/cpp/text_hash.hpp>
#include <unordered_map>
#include <vector>

#include "globals.hpp"
#include "value.hpp"

namespace checkpoint {

namespace limits {
inline constexpr size_t kValues = 10'000'000;      // limit of one file
inline constexpr size_t kReferences = 60'000'000;  // pushes onto the stack of one pickle
inline constexpr size_t kCopied = 10'000'000;      // items copied by OrderedDict(dict), set(list)
inline constexpr size_t kNames = 100'000;          // distinct classes and functions
inline constexpr size_t kMemoGap = 256;            // largest gap between memo numbers
inline constexpr size_t kMaxLineBytes = 4'096;     // names of classes, integers in decimal
}  // namespace limits

/// Names of classes, with the number of calls of each.
using Calls = std::map<std::string_view, size_t>;

struct Pickle {
  const Value* root;
  size_t end;                          // end of the pickle in `data`
  std::vector<const Value*> storages;  // every reference to a tensor's memory, in order
  Calls called;                        // classes whose objects are placeholders
};

class Unpickler {
 public:
  /// `data` must outlive the arena's values. Messages begin with `place` ("data.pkl") and count
  /// bytes from `first_byte`, the position of data[0] in the file.
  Unpickler(std::string_view data, std::string place, uint64_t first_byte, Arena& arena);

  /// Throws loading::BadFile.
  Pickle run();

 private:
  struct Operand {
    uint64_t number = 0;
    std::string_view bytes, second;
  };
  struct Opcode;
  enum class Form : uint8_t;
  static const Opcode* find(uint8_t code);

  [[noreturn]] void refuse(const std::string& what) const;
  [[noreturn]] void refuse_global(const Value& global, std::string_view what) const;

  std::string_view take(uint64_t bytes);
  uint64_t number(size_t bytes);
  std::string_view line();
  Operand operand(Form form);

  size_t floor() const { return marks_.empty() ? 0 : marks_.back(); }
  Value* make(Kind kind);
  Value* make_int(int64_t integer);
  void push(const Value* value);
  void push_text(Kind kind, std::string_view text);
  const Value* pop();
  const Value* top() const;
  std::vector<const Value*> pop_to_mark();
  /// The container on top of the stack, to which items are added.
  Items& growing(Kind kind, std::string_view adding);

  void op_none(const Operand&);
  void op_true(const Operand&);
  void op_false(const Operand&);
  void op_unsigned(const Operand&);
  void op_signed(const Operand&);
  void op_long(const Operand&);
  void op_decimal(const Operand&);
  void op_float(const Operand&);
  void op_text(const Operand&);
  void op_bytes(const Operand&);
  void op_empty_list(const Operand&);
  void op_empty_dict(const Operand&);
  void op_empty_set(const Operand&);
  void op_empty_tuple(const Operand&);
  void op_tuple(const Operand&);
  void op_tuple1(const Operand&);
  void op_tuple2(const Operand&);
  void op_tuple3(const Operand&);
  void op_frozenset(const Operand&);
  void op_append(const Operand&);
  void op_appends(const Operand&);
  void op_set_item(const Operand&);
  void op_set_items(const Operand&);
  void op_add_items(const Operand&);
  void op_mark(const Operand&);
  void op_pop(const Operand&);
  void op_pop_mark(const Operand&);
  void op_dup(const Operand&);
  void op_put(const Operand&);
  void op_memoize(const Operand&);
  void op_get(const Operand&);
  void op_global(const Operand&);
  void op_stack_global(const Operand&);
  void op_reduce(const Operand&);
  void op_new_object(const Operand&);
  void op_new_object_ex(const Operand&);
  void op_build(const Operand&);
  void op_persistent_id(const Operand&);
  void op_nothing(const Operand&);
  void op_frame(const Operand&);

  void push_tuple(size_t count);
  void push_global(std::string_view module, std::string_view name);
  void set_name(Value& global, std::string name);
  static Trust trust_of(const Value& global);
  void count_copied(size_t items);
  void put(uint64_t index);
  void set_items(Items& into, const std::vector<const Value*>& items);
  const Value* called(const Value& function, const Value& arguments);
  const Value* object(const Value& type, const Value& arguments);
  const Value* placeholder(const Value& type, const Value& arguments);
  const Value* member_of_class(const Value& getattr, const Value& arguments);
  const Value* dict_of(const Value& type, const Value& arguments);
  const Value* sequence_of(Kind kind, const Value& type, const Value& arguments);
  const Value* reconstructed(const Value& arguments);

  std::string_view data_;
  std::string place_;
  uint64_t first_byte_;
  Arena& arena_;
  size_t at_ = 0, opcode_at_ = 0;
  size_t references_ = 0, copied_ = 0;
  std::unordered_map<std::string_view, Trust, tmeter::TextHash> names_;
  Calls called_;
  const Value* getattr_ = nullptr;  // named, but not yet seen in a harmless call
  std::vector<const Value*> storages_;
  std::vector<const Value*> stack_;
  std::vector<size_t> marks_;
  std::vector<const Value*> memo_;
  // Shared objects for the most frequent values.
  const Value *none_, *true_, *false_, *empty_;
  std::array<const Value*, 256> small_{};
};

}  // namespace checkpoint
