// Symbols: the sizes of a model with dynamic shapes, from strings in the file to symbols and
// expressions of the host's graph.
//
// Call `collect` with every size of a graph first. It learns the values of symbols from the hints
// beside the expressions; `fix` overrides them. Then call `dim`.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <tmeter/cpp/plugin.hpp>
#include <tmeter/cpp/text_hash.hpp>
#include <unordered_map>
#include <vector>

#include "building.hpp"
#include "expr.hpp"
#include "json_util.hpp"

namespace pt2 {

class Symbols {
 public:
  Symbols(tmeter::GraphBuilder& builder, Notes& notes, TextStore& texts)
      : builder_(builder), notes_(notes), kept_(texts) {}

  /// `{"s77": {"min_val": 2, "max_val": null}, …}`
  void read_ranges(json::object ranges);

  /// A SymInt or SymBool: `{"as_int": 8}` or `{"as_expr": {"expr_str": …, "hint": {"as_int": 8}}}`.
  void collect(json::element size);
  tmeter_dim dim(json::element size);
  /// Its value under the symbols' values.
  int64_t value(json::element size);
  /// The value that the file records beside it; none if it does not.
  std::optional<int64_t> hint(json::element size);
  /// The expression in the host's graph; `sizes` replace its symbols.
  tmeter_id made(const Expr& expr, const std::vector<tmeter_dim>& sizes);
  /// Whether all symbols with a recorded value have it; 0 without any.
  tmeter_id as_recorded();
  /// The same; none if it contains a symbol whose value was assumed.
  std::optional<int64_t> recorded_value(json::element size);
  /// A SymFloat; none if its value is known at run time only.
  std::optional<double> real(json::element number);

  /// A plain number, which no symbol can change.
  static bool is_fixed(json::element size) { return as_tagged(size).kind != "as_expr"; }
  /// Sets a symbolic size to a value from --input. `place` is "size 2 of input 'x'". Returns an
  /// error message, or "".
  std::string fix(json::element size, int64_t target, const std::string& place);

  /// Call once the graph is complete: reports the symbols with assumed values.
  void report();

 private:
  struct Symbol {
    std::string_view name;
    int64_t min = 0, max = INT64_MAX;
    bool fixed = false, guessed = false;
    std::optional<int64_t> value, recorded;
    std::string fixed_by;  // the size of an input that needs the value
    tmeter_id expr = 0;    // once pushed
  };
  struct Entry {
    std::optional<Expr> expr;  // none: see `problem`
    std::string problem;
    std::vector<size_t> symbols;  // symbols of expr, as indices
    std::optional<int64_t> hint;
    tmeter_id id = 0;  // once pushed
    int64_t constant = 0;
    bool is_constant = false;
  };

  Entry* entry_of(json::element size);  // null for a plain integer
  Entry& entry_of_text(std::string_view text);
  size_t symbol_index(std::string_view name);
  int64_t value_of(size_t symbol);
  std::optional<int64_t> from_hints(size_t symbol);
  std::optional<int64_t> solve(const Entry& entry, size_t symbol, int64_t target, int64_t least);
  std::optional<Expr::Ratio> evaluate(Entry& entry);
  tmeter_id symbol_expr(size_t symbol);
  void push(std::string_view text, Entry& entry);

  tmeter::GraphBuilder& builder_;
  Notes& notes_;
  TextStore& kept_;
  std::map<std::string_view, Entry> entries_;
  std::unordered_map<std::string_view, size_t, tmeter::TextHash> names_;
  std::vector<Symbol> symbols_;
  std::string rounded_;         // a size that torch computes in floating point
  int64_t budget_ = 4'000'000;  // evaluations spent on solving for symbols without a hint
};

}  // namespace pt2
