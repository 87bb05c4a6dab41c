// Names in pickles, one by one: the forbidden and the callable ones. The first list has the names
// that attacks on pickles use (see Python's library reference for each); the second has those that
// torch.save writes for data of Python, NumPy and PyTorch.
#include "pickle/globals.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace checkpoint {
namespace {

std::vector<std::string> words(const char* text) {
  std::istringstream in(text);
  return {std::istream_iterator<std::string>(in), {}};
}

TEST(Globals, ModulesThatReachTheSystemAreRefusedWithAllTheirNames) {
  for (const auto& module : words(
           "os posix nt posixpath ntpath genericpath sys subprocess popen2 shutil socket ssl "
           "socketserver http httplib urllib urllib2 requests ftplib smtplib telnetlib runpy "
           "importlib imp pkgutil zipimport pickle _pickle cPickle pickletools dill cloudpickle "
           "joblib shelve marshal ctypes _ctypes cffi codeop types inspect gc pty tty webbrowser "
           "asyncio threading _thread multiprocessing concurrent signal tempfile fileinput io _io "
           "operator _operator pdb bdb timeit cProfile ensurepip pip setuptools")) {
    EXPECT_EQ(trust(module + ".anything"), Trust::kRefuse) << module;
    EXPECT_EQ(trust(module + ".sub.anything"), Trust::kRefuse) << module;
    EXPECT_NE(trust("x" + module + ".anything"), Trust::kRefuse) << module;
    EXPECT_NE(trust("my_" + module + ".anything"), Trust::kRefuse) << module;
  }
}

TEST(Globals, FunctionsThatRunCodeOrOpenFilesAreRefused) {
  for (const auto& name :
       words("builtins.eval builtins.exec builtins.execfile builtins.compile builtins.open "
             "builtins.file builtins.getattr builtins.setattr builtins.delattr builtins.__import__ "
             "builtins.__build_class__ builtins.apply builtins.input builtins.raw_input "
             "builtins.breakpoint builtins.globals builtins.locals builtins.vars builtins.dir "
             "builtins.map builtins.filter builtins.reduce builtins.memoryview builtins.type "
             "builtins.super builtins.help builtins.exit builtins.quit functools.reduce "
             "itertools.starmap torch.load torch.save torch.serialization.load "
             "torch.storage._load_from_bytes torch.jit.load torch.ops.load_library "
             "torch.classes.load_library torch.fx.graph_module.reduce_graph_module torch.hub.load "
             "torch.utils.cpp_extension.load torch.package.PackageImporter "
             "torch.multiprocessing.spawn torch.distributed.rpc.rpc_sync "
             "numpy.testing._private.utils.runstring numpy.f2py.compile"))
    EXPECT_EQ(trust(name), Trust::kRefuse) << name;
}

TEST(Globals, NoDetourLeadsToTheInterpreter) {
  for (const auto& part : words("os sys posix nt subprocess builtins __builtins__ __globals__ "
                                "__subclasses__ __getattribute__")) {
    EXPECT_EQ(trust("my.module." + part), Trust::kRefuse) << part;
    EXPECT_EQ(trust("my." + part + ".system"), Trust::kRefuse) << part;
    EXPECT_NE(trust("my.x" + part), Trust::kRefuse) << part;
  }
  EXPECT_EQ(trust("torch._utils._rebuild_tensor.__globals__"), Trust::kRefuse);
  EXPECT_NE(trust("torch._utils._rebuild_tensor.attribute"), Trust::kCall);
}

TEST(Globals, ConstructorsOfDataMayBeCalled) {
  for (const auto& name : words(
           "collections.OrderedDict collections.Counter collections.defaultdict collections.deque "
           "builtins.dict builtins.list builtins.tuple builtins.set builtins.frozenset "
           "builtins.bytearray builtins.bytes builtins.complex builtins.int builtins.float "
           "builtins.bool builtins.str builtins.slice builtins.range builtins.xrange "
           "builtins.object copyreg._reconstructor _codecs.encode functools.partial "
           "argparse.Namespace types.SimpleNamespace datetime.date datetime.datetime datetime.time "
           "datetime.timedelta datetime.timezone decimal.Decimal fractions.Fraction uuid.UUID "
           "pathlib.Path pathlib.PosixPath pathlib.PurePosixPath pathlib.WindowsPath "
           "pathlib.PureWindowsPath pathlib._local.PosixPath pathlib._local.WindowsPath "
           "numpy.dtype numpy.core.multiarray.scalar numpy.core.multiarray._reconstruct "
           "numpy._core.multiarray.scalar numpy._core.multiarray._reconstruct "
           "numpy._core.numeric._frombuffer numpy.core.numeric._frombuffer torch.Size torch.device "
           "torch.Generator torch.serialization._get_layout torch.nn.parameter.Parameter "
           "torch.nn.parameter.Buffer torch.autograd.variable.Variable "
           "torch._tensor._rebuild_from_type torch._tensor._rebuild_from_type_v2 "
           "torch.tensor._rebuild_from_type torch.tensor._rebuild_from_type_v2 "
           "torch._utils._rebuild_tensor_v2 torch._utils._rebuild_parameter"))
    EXPECT_EQ(trust(name), Trust::kCall) << name;
  for (const auto* name : {"torch.nn.functional.relu", "my.module.function", "torch.Tensor"})
    EXPECT_EQ(trust(name), Trust::kMention) << name;
}

TEST(Globals, ClassesOfUsersAndOfLibrariesArePlaceholders) {
  for (const auto& name :
       words("timm.layers.Format my.module.Class A.B Z.Z __main__.Config __main__._Private "
             "transformers.modeling.__Hidden torch.nn.modules.linear.Linear torch.optim.adam.Adam "
             "torchvision.models.resnet.ResNet numpyro.Model xml2.Class"))
    EXPECT_EQ(trust(name), Trust::kClass) << name;
  // Functions, by the spelling of their names, and names that do not begin with a letter.
  for (const auto& name : words("timm.layers.format timm.layers._format my.module.___ my.module. "
                                "my.module.[Class my.module.@Class"))
    EXPECT_EQ(trust(name), Trust::kMention) << name;
}

TEST(Globals, ClassesOfPythonAndOfTheseLibrariesAreListedIndividually) {
  for (const auto& name :
       words("abc.ABC zoneinfo.ZoneInfo enum.Enum xml.dom.Document _hidden.Class __future__.Class "
             "torch.Tensor torch.distributed.Store torch.nnx.Class numpy.ndarray.Class "
             "pandas.DataFrame aiohttp.Client paramiko.SSHClient docker.Client"))
    EXPECT_EQ(trust(name), Trust::kMention) << name;
  EXPECT_EQ(trust("requests.Session"), Trust::kRefuse);
}

// sys.stdlib_module_names of Python 3.11, without names that begin with an underscore.
TEST(Globals, NoClassOfPythonsLibraryIsTreatedAsAUsersClass) {
  for (const auto& module :
       words("abc aifc antigravity argparse array ast asynchat asyncio asyncore atexit audioop "
             "base64 bdb binascii bisect builtins bz2 cProfile calendar cgi cgitb chunk cmath cmd "
             "code codecs codeop collections colorsys compileall concurrent configparser "
             "contextlib contextvars copy copyreg crypt csv ctypes curses dataclasses datetime dbm "
             "decimal difflib dis distutils doctest email encodings ensurepip enum errno "
             "faulthandler fcntl filecmp fileinput fnmatch fractions ftplib functools gc "
             "genericpath getopt getpass gettext glob graphlib grp gzip hashlib heapq hmac html "
             "http idlelib imaplib imghdr imp importlib inspect io ipaddress itertools json "
             "keyword lib2to3 linecache locale logging lzma mailbox mailcap marshal math mimetypes "
             "mmap modulefinder msilib msvcrt multiprocessing netrc nis nntplib nt ntpath "
             "nturl2path numbers opcode operator optparse os ossaudiodev pathlib pdb pickle "
             "pickletools pipes pkgutil platform plistlib poplib posix posixpath pprint profile "
             "pstats pty pwd py_compile pyclbr pydoc pydoc_data pyexpat queue quopri random re "
             "readline reprlib resource rlcompleter runpy sched secrets select selectors shelve "
             "shlex shutil signal site smtpd smtplib sndhdr socket socketserver spwd sqlite3 "
             "sre_compile sre_constants sre_parse ssl stat statistics string stringprep struct "
             "subprocess sunau symtable sys sysconfig syslog tabnanny tarfile telnetlib tempfile "
             "termios textwrap this threading time timeit tkinter token tokenize tomllib trace "
             "traceback tracemalloc tty turtle turtledemo types typing unicodedata unittest urllib "
             "uu uuid venv warnings wave weakref webbrowser winreg winsound wsgiref xdrlib xml "
             "xmlrpc zipapp zipfile zipimport zlib zoneinfo")) {
    const auto judged = trust(module + ".sub.Class");
    EXPECT_TRUE(judged == Trust::kMention || judged == Trust::kRefuse) << module;
  }
}

TEST(Globals, NamesOfPython2AreMappedToPython3) {
  EXPECT_EQ(global_name("__builtin__", "set"), "builtins.set");
  EXPECT_EQ(global_name("copy_reg", "_reconstructor"), "copyreg._reconstructor");
  EXPECT_EQ(global_name("my.copy_reg", "x"), "my.copy_reg.x");
}

TEST(Globals, ContainersThatGrowAfterTheyWereMade) {
  for (const auto* name : {"collections.OrderedDict", "collections.Counter",
                           "collections.defaultdict", "builtins.dict"})
    EXPECT_TRUE(is_dict_type(name) && !is_list_type(name) && !is_set_type(name)) << name;
  for (const auto* name : {"builtins.list", "collections.deque"})
    EXPECT_TRUE(is_list_type(name) && !is_dict_type(name) && !is_set_type(name)) << name;
  for (const auto* name : {"builtins.set", "builtins.frozenset"})
    EXPECT_TRUE(is_set_type(name) && !is_dict_type(name) && !is_list_type(name)) << name;
}

}  // namespace
}  // namespace checkpoint
