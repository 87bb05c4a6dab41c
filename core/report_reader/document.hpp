// The text of a saved report: its sections, and the rows of each, one parsed at a time.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "core/report_reader/json_value.hpp"

namespace tmeter::core::report_reader {

class Document {
 public:
  /// `text` must outlive it. Throws Error(kModel) unless it is an object with a schema that this
  /// tmeter reads.
  explicit Document(std::string_view text);

  bool has(std::string_view section) const { return find(section) != nullptr; }
  /// The section as one value. Throws Error(kModel) if it is absent.
  Item whole(std::string_view section);
  /// Calls `row` for each item of a list; an absent section is empty. Errors in a row name its
  /// place: "nodes[17]: there is no 'op'".
  void rows(std::string_view section, const std::function<void(size_t, const Item&)>& row);

 private:
  const std::string_view* find(std::string_view section) const;
  Parser parser_;
  std::map<std::string, std::string_view, std::less<>> sections_;
};

/// Whether a file begins as a JSON object whose first member is the schema of a report (or of
/// another document that tmeter writes).
bool begins_with_schema(std::string_view text);

}  // namespace tmeter::core::report_reader
