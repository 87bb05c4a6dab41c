// Faults of the file and typed access to the parsed JSON, as all loaders have them
// (common/bad_file.hpp, common/json_util.hpp), and the tagged unions of torch's schema.
#pragma once
#include "../common/bad_file.hpp"
#include "../common/json_util.hpp"

namespace pt2 {

using loading::BadFile;
using loading::in_quotes;
using loading::shown;
using loading::with_place;
using loading::within;

namespace json = loading::json;

using loading::array_member;
using loading::as;
using loading::as_array;
using loading::as_bool;
using loading::as_integer;
using loading::as_object;
using loading::as_text;
using loading::explain;
using loading::find;
using loading::find_set;
using loading::is;
using loading::member;
using loading::object_member;
using loading::read_member;
using loading::text_member;
using loading::type_name;
using loading::wrong_type;

/// A tagged union as torch writes it: an object with the one key that names the alternative.
struct TaggedUnion {
  std::string_view kind;
  json::element value;
};

inline TaggedUnion as_tagged(json::element e) {
  const auto object = as_object(e);
  auto it = object.begin();
  if (it == object.end()) throw BadFile("expected an object with one key, found an empty one");
  const TaggedUnion tagged{it.key(), it.value()};
  if (++it != object.end())
    throw BadFile("expected an object with one key, found " + in_quotes(tagged.kind) + " and " +
                  in_quotes(it.key()));
  return tagged;
}

}  // namespace pt2
