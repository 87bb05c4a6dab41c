// The ABI's opaque handles are pointers to the host's own objects. Only these casts rely on that.
#pragma once
#include <tmeter/abi/base.h>

#include <type_traits>
#include <vector>

#include "core/ir/graph.hpp"

namespace tmeter::core {
namespace handle_detail {

template <class Handle>
struct ObjectOf;
template <class Object>
struct HandleOf;

template <>
struct ObjectOf<tmeter_graph> : std::type_identity<Graph> {};
template <>
struct ObjectOf<tmeter_node> : std::type_identity<Node> {};
template <>
struct ObjectOf<tmeter_value> : std::type_identity<Value> {};
template <>
struct ObjectOf<tmeter_module> : std::type_identity<Module> {};
template <>
struct ObjectOf<tmeter_module_call> : std::type_identity<ModuleCall> {};
template <>
struct ObjectOf<tmeter_tensor> : std::type_identity<Tensor> {};

template <>
struct HandleOf<Graph> : std::type_identity<tmeter_graph> {};
template <>
struct HandleOf<Node> : std::type_identity<tmeter_node> {};
template <>
struct HandleOf<Value> : std::type_identity<tmeter_value> {};
template <>
struct HandleOf<Module> : std::type_identity<tmeter_module> {};
template <>
struct HandleOf<ModuleCall> : std::type_identity<tmeter_module_call> {};
template <>
struct HandleOf<Tensor> : std::type_identity<tmeter_tensor> {};

}  // namespace handle_detail

template <class Object>
auto to_handle(const Object* object) {
  return reinterpret_cast<const typename handle_detail::HandleOf<Object>::type*>(object);
}
/// A list of objects as a list of their handles.
template <class Object>
auto to_handles(const std::vector<const Object*>& objects) {
  return reinterpret_cast<const typename handle_detail::HandleOf<Object>::type* const*>(
      objects.data());
}
template <class Handle>
auto from_handle(const Handle* handle) {
  return reinterpret_cast<const typename handle_detail::ObjectOf<Handle>::type*>(handle);
}

}  // namespace tmeter::core
