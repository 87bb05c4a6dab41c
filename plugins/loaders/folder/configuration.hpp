// config.json as metadata: one fact for each value, its key the path to it.
#pragma once
#include <string_view>
#include <tmeter/cpp/plugin.hpp>

#include "../common/json_util.hpp"

namespace folder {

/// Throws BadFile unless the text is a JSON object.
void push_configuration(std::string_view text, std::string_view space, tmeter::GraphBuilder& graph);

/// Parsed JSON whose root is an object.
class JsonFile {
 public:
  explicit JsonFile(std::string_view text);
  loading::json::object root() const { return root_; }

 private:
  loading::json::document document_;
  loading::json::object root_;
};

}  // namespace folder
