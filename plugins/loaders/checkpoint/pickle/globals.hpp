// The names that a pickle may mention, and the uses that are allowed.
//
// Python's unpickler imports every name and calls any function that the pickle requests, so a
// checkpoint can run commands. Here names are only compared with this table:
//
//   refuse     its mention is reason enough: no model needs os.system
//   call       calling it (REDUCE) makes data and has no other effect: OrderedDict, torch.Size, …
//   class      a class that is not Python's, PyTorch's or NumPy's (an enum of timm): a call makes
//              an object that is kept with its arguments and is never taken for a tensor or module
//   mention    anything else: may be named, and may be the class of an object that is made without
//              calling its constructor (NEWOBJ, as whole modules are saved); may not be called
#pragma once
#include <string>
#include <string_view>

namespace checkpoint {

enum class Trust { kRefuse, kMention, kClass, kCall };

/// "collections" and "OrderedDict" → "collections.OrderedDict". Python 2 names of
/// modules, which pickles of protocol 2 hold, become those of Python 3 ("__builtin__" →
/// "builtins").
std::string global_name(std::string_view module, std::string_view name);

Trust trust(std::string_view global);

/// Containers that a call creates and SETITEM or APPEND fill.
bool is_dict_type(std::string_view global);
bool is_list_type(std::string_view global);
bool is_set_type(std::string_view global);

}  // namespace checkpoint
