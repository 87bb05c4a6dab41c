// The table of opcodes, by their names in Python's pickletools. Included only by unpickler.cpp.
#pragma once
#include "unpickler.hpp"

namespace checkpoint {

/// The layout of an opcode's operand. Numbers are little-endian except kDouble.
enum class Unpickler::Form : uint8_t {
  kNone,
  kU1,
  kU2,
  kU4,
  kU8,
  kI4,
  kDouble,  // eight bytes, big-endian
  kBytes1,  // a length of one, four or eight bytes, then the bytes
  kBytes4,
  kBytes8,
  kLine,
  kTwoLines,
};

struct Unpickler::Opcode {
  uint8_t code;
  const char* name;
  Form form = Form::kNone;
  void (Unpickler::*run)(const Operand&) = nullptr;  // null: refused
};

/// Null for an unknown opcode.
inline const Unpickler::Opcode* Unpickler::find(uint8_t code) {
  using U = Unpickler;
  static constexpr Opcode kTable[] = {
      {0x80, "PROTO", Form::kU1, &U::op_nothing},
      {0x95, "FRAME", Form::kU8, &U::op_frame},
      {'.', "STOP", Form::kNone, &U::op_nothing},
      {'N', "NONE", Form::kNone, &U::op_none},
      {0x88, "NEWTRUE", Form::kNone, &U::op_true},
      {0x89, "NEWFALSE", Form::kNone, &U::op_false},
      {'K', "BININT1", Form::kU1, &U::op_unsigned},
      {'M', "BININT2", Form::kU2, &U::op_unsigned},
      {'J', "BININT", Form::kI4, &U::op_signed},
      {0x8a, "LONG1", Form::kBytes1, &U::op_long},
      {0x8b, "LONG4", Form::kBytes4, &U::op_long},
      {'I', "INT", Form::kLine, &U::op_decimal},
      {'L', "LONG", Form::kLine, &U::op_decimal},
      {'G', "BINFLOAT", Form::kDouble, &U::op_float},
      {'X', "BINUNICODE", Form::kBytes4, &U::op_text},
      {0x8c, "SHORT_BINUNICODE", Form::kBytes1, &U::op_text},
      {0x8d, "BINUNICODE8", Form::kBytes8, &U::op_text},
      {'U', "SHORT_BINSTRING", Form::kBytes1, &U::op_text},  // Python 2's str
      {'T', "BINSTRING", Form::kBytes4, &U::op_text},
      {'C', "SHORT_BINBYTES", Form::kBytes1, &U::op_bytes},
      {'B', "BINBYTES", Form::kBytes4, &U::op_bytes},
      {0x8e, "BINBYTES8", Form::kBytes8, &U::op_bytes},
      {0x96, "BYTEARRAY8", Form::kBytes8, &U::op_bytes},
      {']', "EMPTY_LIST", Form::kNone, &U::op_empty_list},
      {'}', "EMPTY_DICT", Form::kNone, &U::op_empty_dict},
      {0x8f, "EMPTY_SET", Form::kNone, &U::op_empty_set},
      {')', "EMPTY_TUPLE", Form::kNone, &U::op_empty_tuple},
      {'t', "TUPLE", Form::kNone, &U::op_tuple},
      {0x85, "TUPLE1", Form::kNone, &U::op_tuple1},
      {0x86, "TUPLE2", Form::kNone, &U::op_tuple2},
      {0x87, "TUPLE3", Form::kNone, &U::op_tuple3},
      {0x91, "FROZENSET", Form::kNone, &U::op_frozenset},
      {'a', "APPEND", Form::kNone, &U::op_append},
      {'e', "APPENDS", Form::kNone, &U::op_appends},
      {'s', "SETITEM", Form::kNone, &U::op_set_item},
      {'u', "SETITEMS", Form::kNone, &U::op_set_items},
      {0x90, "ADDITEMS", Form::kNone, &U::op_add_items},
      {'(', "MARK", Form::kNone, &U::op_mark},
      {'0', "POP", Form::kNone, &U::op_pop},
      {'1', "POP_MARK", Form::kNone, &U::op_pop_mark},
      {'2', "DUP", Form::kNone, &U::op_dup},
      {'q', "BINPUT", Form::kU1, &U::op_put},
      {'r', "LONG_BINPUT", Form::kU4, &U::op_put},
      {0x94, "MEMOIZE", Form::kNone, &U::op_memoize},
      {'h', "BINGET", Form::kU1, &U::op_get},
      {'j', "LONG_BINGET", Form::kU4, &U::op_get},
      {'c', "GLOBAL", Form::kTwoLines, &U::op_global},
      {0x93, "STACK_GLOBAL", Form::kNone, &U::op_stack_global},
      {'R', "REDUCE", Form::kNone, &U::op_reduce},
      {0x81, "NEWOBJ", Form::kNone, &U::op_new_object},
      {0x92, "NEWOBJ_EX", Form::kNone, &U::op_new_object_ex},
      {'b', "BUILD", Form::kNone, &U::op_build},
      {'Q', "BINPERSID", Form::kNone, &U::op_persistent_id},
      // Never written by torch.save: protocol 0, old-style classes, registries of the running
      // Python, buffers outside the pickle.
      {'F', "FLOAT"},
      {'S', "STRING"},
      {'V', "UNICODE"},
      {'P', "PERSID"},
      {'d', "DICT"},
      {'l', "LIST"},
      {'g', "GET"},
      {'p', "PUT"},
      {'i', "INST"},
      {'o', "OBJ"},
      {0x82, "EXT1"},
      {0x83, "EXT2"},
      {0x84, "EXT4"},
      {0x97, "NEXT_BUFFER"},
      {0x98, "READONLY_BUFFER"},
  };
  static constexpr auto kByCode = [] {
    std::array<uint8_t, 256> index{};  // 1 + place in the table; 0: none
    for (size_t i = 0; i < std::size(kTable); ++i)
      index[kTable[i].code] = static_cast<uint8_t>(i + 1);
    return index;
  }();
  return kByCode[code] ? &kTable[kByCode[code] - 1] : nullptr;
}

}  // namespace checkpoint
