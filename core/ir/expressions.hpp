// Integer expressions over symbols: the dims of models with dynamic shapes.
//
// An expression refers only to earlier ones, so the pool is acyclic by construction and one pass in
// order evaluates everything. Meaning of the operators: sdk abi/builder.h.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tmeter::core {

struct Symbol {
  std::string_view name;
  int64_t min = 0, max = 0;
  int64_t value = 0;
  // A dim of an input that equals this symbol, "input_ids.0", or an input that is a number.
  std::string_view place = {};
  bool given = false;  // the user gave the value

  /// The smallest value that the model takes. torch.export distinguishes 0 and 1 while it records,
  /// so it writes 2 for a size without a lower bound; an exported program checks only bounds above
  /// 2 (torch/_export/utils.py: "we allow dimensions to be 0/1 at runtime").
  int64_t least() const { return min > 0 && min <= 2 ? 0 : min; }
};

/// 0 is "no expression"; ids count from 1.
using ExprId = uint32_t;

class Expressions {
 public:
  ExprId add_int(int64_t value);
  ExprId add_symbol(size_t symbol);
  /// An expression of a saved report. Only its text and value are known: no symbol
  /// changes it.
  ExprId add_text(std::string text, int64_t value);
  /// `op` is a TMETER_EXPR_…; throws Error(kModel) for unknown operators, operands or counts.
  ExprId add(int32_t op, const std::vector<ExprId>& operands);

  size_t size() const { return items_.size(); }
  bool contains(ExprId id) const { return id >= 1 && id <= items_.size(); }
  /// Index of the symbol if the expression is only a symbol.
  std::optional<size_t> symbol_of(ExprId id) const;
  /// Indices of all symbols in it, ascending.
  std::vector<size_t> symbols_in(ExprId id) const;
  /// Whether it states that one expression is divisible by another: a % b == 0.
  bool is_divisibility(ExprId id) const;

  /// Evaluates all for the symbols' values.
  void evaluate(const std::vector<Symbol>& symbols);
  /// Renders all; then `text` may be called from any thread.
  void render(const std::vector<Symbol>& symbols);

  /// No value on overflow or division by zero.
  std::optional<int64_t> find_value(ExprId id) const { return values_[id - 1]; }
  /// Throws Error(kModel) instead.
  int64_t value(ExprId id) const;
  const std::string& text(ExprId id) const { return texts_[id - 1]; }

 private:
  struct Item {
    int32_t op;         // 0: integer, -1: symbol, -2: text, else TMETER_EXPR_…
    int64_t value;      // integer, of the text, or index of the symbol
    uint32_t first, n;  // operands_[first, first + n); of a text: fixed_texts_[first]
  };
  ExprId push(Item item);
  std::span<const ExprId> operands(const Item& item) const {
    return std::span(operands_).subspan(item.first, item.op > 0 ? item.n : 0);
  }
  std::optional<int64_t> evaluate(const Item& item, const std::vector<Symbol>& symbols) const;
  std::string render(const Item& item, const std::vector<Symbol>& symbols) const;

  std::vector<Item> items_;
  std::vector<ExprId> operands_;
  std::vector<std::string> fixed_texts_;
  std::vector<std::optional<int64_t>> values_;
  std::vector<std::string> texts_;
};

}  // namespace tmeter::core
