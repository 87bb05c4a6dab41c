#include "globals.hpp"

#include <algorithm>
#include <array>
#include <span>

namespace checkpoint {
namespace {

using Names = std::span<const std::string_view>;

bool has(Names names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Refused modules: no part of them may be named. They reach files, processes, the network, other
// code or the interpreter itself.
constexpr std::string_view kRefusedModules =
    "os posix nt posixpath ntpath genericpath sys subprocess popen2 shutil socket ssl "
    "socketserver http httplib urllib urllib2 requests ftplib smtplib telnetlib runpy "
    "importlib imp pkgutil zipimport pickle _pickle cPickle pickletools dill cloudpickle "
    "joblib shelve marshal ctypes _ctypes cffi codeop types inspect gc pty tty webbrowser "
    "asyncio threading _thread multiprocessing concurrent signal tempfile fileinput io _io "
    "operator _operator pdb bdb timeit cProfile ensurepip pip setuptools";

/// Whether `name` is one of the words between spaces.
bool has_word(std::string_view words, std::string_view name) {
  for (size_t at = 0; (at = words.find(name, at)) != std::string_view::npos; ++at) {
    const auto end = at + name.size();
    const bool begins = at == 0 || words[at - 1] == ' ';
    if (begins && (end == words.size() || words[end] == ' ')) return true;
  }
  return false;
}

// Functions of other modules that run code, load it or open files.
constexpr std::array<std::string_view, 38> kRefusedNames{
    "builtins.eval",
    "builtins.exec",
    "builtins.execfile",
    "builtins.compile",
    "builtins.open",
    "builtins.file",
    "builtins.getattr",
    "builtins.setattr",
    "builtins.delattr",
    "builtins.__import__",
    "builtins.__build_class__",
    "builtins.apply",
    "builtins.input",
    "builtins.raw_input",
    "builtins.breakpoint",
    "builtins.globals",
    "builtins.locals",
    "builtins.vars",
    "builtins.dir",
    "builtins.map",
    "builtins.filter",
    "builtins.reduce",
    "builtins.memoryview",
    "builtins.type",
    "builtins.super",
    "builtins.help",
    "builtins.exit",
    "builtins.quit",
    "functools.reduce",
    "itertools.starmap",
    "torch.load",
    "torch.save",
    "torch.serialization.load",
    "torch.storage._load_from_bytes",
    "torch.jit.load",
    "torch.ops.load_library",
    "torch.classes.load_library",
    "torch.fx.graph_module.reduce_graph_module",
};
constexpr std::array<std::string_view, 7> kRefusedParts{"torch.hub.",
                                                        "torch.utils.cpp_extension.",
                                                        "torch.package.",
                                                        "torch.multiprocessing.",
                                                        "torch.distributed.rpc.",
                                                        "numpy.testing.",
                                                        "numpy.f2py."};

// Callable names. Each only builds a value from its arguments.
constexpr std::array<std::string_view, 58> kCallable{
    "collections.OrderedDict",
    "collections.Counter",
    "collections.defaultdict",
    "collections.deque",
    "builtins.dict",
    "builtins.list",
    "builtins.tuple",
    "builtins.set",
    "builtins.frozenset",
    "builtins.bytearray",
    "builtins.bytes",
    "builtins.complex",
    "builtins.int",
    "builtins.float",
    "builtins.bool",
    "builtins.str",
    "builtins.slice",
    "builtins.range",
    "builtins.xrange",
    "builtins.object",
    "copyreg._reconstructor",
    "_codecs.encode",
    "functools.partial",
    "argparse.Namespace",
    "types.SimpleNamespace",
    "datetime.date",
    "datetime.datetime",
    "datetime.time",
    "datetime.timedelta",
    "datetime.timezone",
    "decimal.Decimal",
    "fractions.Fraction",
    "uuid.UUID",
    "pathlib.Path",
    "pathlib.PosixPath",
    "pathlib.PurePosixPath",
    "pathlib.WindowsPath",
    "pathlib.PureWindowsPath",
    "pathlib._local.PosixPath",
    "pathlib._local.WindowsPath",
    "numpy.dtype",
    "numpy.core.multiarray.scalar",
    "numpy.core.multiarray._reconstruct",
    "numpy._core.multiarray.scalar",
    "numpy._core.multiarray._reconstruct",
    "numpy._core.numeric._frombuffer",
    "numpy.core.numeric._frombuffer",
    "torch.Size",
    "torch.device",
    "torch.Generator",
    "torch.serialization._get_layout",
    "torch.nn.parameter.Parameter",
    "torch.nn.parameter.Buffer",
    "torch.autograd.variable.Variable",
    "torch._tensor._rebuild_from_type",
    "torch._tensor._rebuild_from_type_v2",
    "torch.tensor._rebuild_from_type",
    "torch.tensor._rebuild_from_type_v2",
};
// Python's own modules (sys.stdlib_module_names of 3.10 and 3.13). Their callable names are listed
// above.
constexpr std::string_view kStandardLibrary =
    "abc aifc antigravity argparse array ast asynchat asyncio asyncore atexit audioop base64 "
    "bdb binascii binhex bisect builtins bz2 cProfile calendar cgi cgitb chunk cmath cmd code "
    "codecs codeop collections colorsys compileall concurrent configparser contextlib "
    "contextvars copy copyreg crypt csv ctypes curses dataclasses datetime dbm decimal "
    "difflib dis distutils doctest email encodings ensurepip enum errno faulthandler fcntl "
    "filecmp fileinput fnmatch fractions ftplib functools gc genericpath getopt getpass "
    "gettext glob graphlib grp gzip hashlib heapq hmac html http idlelib imaplib imghdr imp "
    "importlib inspect io ipaddress itertools json keyword lib2to3 linecache locale logging "
    "lzma mailbox mailcap marshal math mimetypes mmap modulefinder msilib msvcrt "
    "multiprocessing netrc nis nntplib nt ntpath nturl2path numbers opcode operator optparse "
    "os ossaudiodev pathlib pdb pickle pickletools pipes pkgutil platform plistlib poplib "
    "posix posixpath pprint profile pstats pty pwd py_compile pyclbr pydoc pydoc_data pyexpat "
    "queue quopri random re readline reprlib resource rlcompleter runpy sched secrets select "
    "selectors shelve shlex shutil signal site smtpd smtplib sndhdr socket socketserver spwd "
    "sqlite3 sre_compile sre_constants sre_parse ssl stat statistics string stringprep struct "
    "subprocess sunau symtable sys sysconfig syslog tabnanny tarfile telnetlib tempfile "
    "termios textwrap this threading time timeit tkinter token tokenize tomllib trace "
    "traceback tracemalloc tty turtle turtledemo types typing unicodedata unittest urllib uu "
    "uuid venv warnings wave weakref webbrowser winreg winsound wsgiref xdrlib xml xmlrpc "
    "zipapp zipfile zipimport zlib zoneinfo";
// The same for these packages, except for modules and optimizers.
constexpr std::string_view kListedPackages = "torch numpy pandas requests aiohttp paramiko docker";
constexpr std::array<std::string_view, 2> kClassesOfTorch{"torch.nn.", "torch.optim."};

// The functions of torch/_utils.py that put tensors together.
constexpr std::string_view kRebuild = "torch._utils._rebuild_";

struct Renamed {
  std::string_view old, now;
};
constexpr std::array<Renamed, 2> kRenamedModules{
    {{"__builtin__", "builtins"}, {"copy_reg", "copyreg"}}};

/// Whether the dotted name leads through a refused module: "os.system", but also the attribute path
/// "torch.serialization" + "os.system" that newer protocols allow.
bool reaches_refused_module(std::string_view global) {
  if (has_word(kRefusedModules, global.substr(0, global.find('.')))) return true;
  // After a harmless first component, only these reach the interpreter.
  constexpr std::array<std::string_view, 10> kAnywhere{"os",
                                                       "sys",
                                                       "posix",
                                                       "nt",
                                                       "subprocess",
                                                       "builtins",
                                                       "__builtins__",
                                                       "__globals__",
                                                       "__subclasses__",
                                                       "__getattribute__"};
  for (size_t dot = global.find('.'); dot != std::string_view::npos;
       dot = global.find('.', dot + 1))
    if (const auto rest = global.substr(dot + 1); has(kAnywhere, rest.substr(0, rest.find('.'))))
      return true;
  return false;
}

/// Python's style guide: class names begin with a capital letter, function names do not.
bool is_class_name(std::string_view global) {
  auto name = global.substr(global.rfind('.') + 1);
  name.remove_prefix(std::min(name.find_first_not_of('_'), name.size()));
  return !name.empty() && name.front() >= 'A' && name.front() <= 'Z';
}

/// Whether the name is a class of the user or of a library of models.
bool is_foreign_class(std::string_view global) {
  if (!is_class_name(global)) return false;
  const auto has_prefix = [&](auto prefix) { return global.starts_with(prefix); };
  if (std::any_of(kClassesOfTorch.begin(), kClassesOfTorch.end(), has_prefix)) return true;
  const auto package = global.substr(0, global.find('.'));
  const bool own = package.starts_with('_') && package != "__main__";
  return !own && !has_word(kStandardLibrary, package) && !has_word(kListedPackages, package);
}

}  // namespace

std::string global_name(std::string_view module, std::string_view name) {
  for (const auto& [old, now] : kRenamedModules)
    if (module == old) module = now;
  return std::string(module) + "." + std::string(name);
}

Trust trust(std::string_view global) {
  const bool rebuild =
      global.starts_with(kRebuild) && global.find('.', kRebuild.size()) == std::string_view::npos;
  if (rebuild || has(kCallable, global)) return Trust::kCall;
  const bool part = std::any_of(kRefusedParts.begin(), kRefusedParts.end(),
                                [&](auto p) { return global.starts_with(p); });
  if (part || has(kRefusedNames, global) || reaches_refused_module(global)) return Trust::kRefuse;
  return is_foreign_class(global) ? Trust::kClass : Trust::kMention;
}

bool is_dict_type(std::string_view global) {
  constexpr std::array<std::string_view, 4> kDicts{"collections.OrderedDict", "collections.Counter",
                                                   "collections.defaultdict", "builtins.dict"};
  return has(kDicts, global);
}

bool is_list_type(std::string_view global) {
  constexpr std::array<std::string_view, 2> kLists{"builtins.list", "collections.deque"};
  return has(kLists, global);
}

bool is_set_type(std::string_view global) {
  constexpr std::array<std::string_view, 2> kSets{"builtins.set", "builtins.frozenset"};
  return has(kSets, global);
}

}  // namespace checkpoint
