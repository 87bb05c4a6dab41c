//! A report writer for tmeter in Rust: `--report totals`, one line for each metric.
//!
//! It needs no crate and no generated bindings: the contract is C (include/tmeter/abi), and the part that
//! a plugin uses fits on a page. Tables only grow at their end, so those of the host are declared up to
//! the last function that is called. Every callback receives the state through its `user` pointer.
//!
//!     cargo build --release
//!     cp target/release/librust_report.so totals.tmeter
//!     tmeter model.pt2 --plugin totals.tmeter --report totals

use std::ffi::c_void;
use std::fmt::Write;
use std::mem::size_of;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::ptr::null;

// abi/base.h

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Str {
    ptr: *const u8,
    len: usize,
}

impl Str {
    const EMPTY: Str = Str { ptr: null(), len: 0 };

    const fn new(text: &'static str) -> Str {
        Str { ptr: text.as_ptr(), len: text.len() }
    }

    /// Texts of the host are UTF-8; texts from a file may contain any bytes.
    unsafe fn text(&self) -> String {
        if self.len == 0 {
            return String::new();
        }
        String::from_utf8_lossy(std::slice::from_raw_parts(self.ptr, self.len)).into_owned()
    }
}

#[repr(C)]
pub struct Number {
    kind: i32,
    flags: u32,
    i: i64,
    f: f64,
}

const OK: i32 = 0;
const INTERNAL: i32 = 3;
const UNAVAILABLE: i32 = 7;
const NUMBER_NONE: i32 = 0;
const NUMBER_INT: i32 = 1;
const NUMBER_FLOAT: i32 = 2;
const NUMBER_ZERO_BY_RULE: i32 = 3;
const NUMBER_UNAVAILABLE: i32 = 5;
const NUMBER_IN_MODULE: i32 = 6;
const NUMBER_PARTIAL: u32 = 1;
const AXIS_MODEL: i32 = 4;

// abi/entry.h

#[repr(C)]
pub struct PluginInfo {
    struct_size: u32,
    reserved: u32,
    id: Str,
    name: Str,
    version: Str,
    description: Str,
    needs: Str,
    rights: Str,
}

#[repr(C)]
pub struct Host {
    struct_size: u32,
    abi_minor: u32,
    name: Str,
    version: Str,
    get_interface: extern "C" fn(*const Host, Str) -> *const c_void,
}

#[repr(C)]
pub struct PluginEntry {
    struct_size: u32,
    abi_minor_required: u32,
    info: *const PluginInfo,
    user: *mut c_void,
    init: extern "C" fn(*mut c_void, *const Host, Str, *mut c_void) -> i32,
    deinit: extern "C" fn(*mut c_void),
    get_capability: extern "C" fn(Str, *mut c_void) -> *const c_void,
    configure: Option<extern "C" fn(*mut c_void, *mut c_void) -> i32>,
}

// abi/call.h, up to `fail`; abi/report.h, up to `cell` and `write`

#[repr(C)]
pub struct CallApi {
    struct_size: u32,
    reserved: u32,
    fail: extern "C" fn(*mut c_void, Str),
}

#[repr(C)]
pub struct MetricInfo {
    struct_size: u32,
    flags: u32,
    id: Str,
    title: Str,
    unit: Str,
    unit_kind: i32,
    axis: i32,
    aggregation: i32,
    better: i32,
    provenance: i32,
    reserved: i32,
    provenance_text: Str,
    convention: Str,
    description: Str,
    plugin: Str,
}

#[repr(C)]
pub struct ReportApi {
    struct_size: u32,
    reserved: u32,
    graph: extern "C" fn(*const c_void) -> *const c_void,
    property: extern "C" fn(*const c_void, Str) -> Str,
    view: extern "C" fn(*const c_void, Str) -> Str,
    metric_count: extern "C" fn(*const c_void) -> usize,
    metric_at: extern "C" fn(*const c_void, usize, *mut MetricInfo) -> i32,
    cell: extern "C" fn(*const c_void, usize, i32, usize) -> Number,
}

#[repr(C)]
pub struct OutputApi {
    struct_size: u32,
    reserved: u32,
    write: extern "C" fn(*mut c_void, Str) -> i32,
}

#[repr(C)]
pub struct Writer {
    struct_size: u32,
    reserved: u32,
    name: Str,
    extension: Str,
    media_type: Str,
    write: extern "C" fn(*mut c_void, *const c_void, *mut c_void, *mut c_void) -> i32,
    user: *mut c_void,
}

#[repr(C)]
pub struct Writers {
    struct_size: u32,
    count: u32,
    get: extern "C" fn(u32, *mut c_void) -> *const Writer,
    user: *mut c_void,
}

// The plugin

/// Made by `tmeter_plugin_v1`, filled by `init`, passed to every callback.
struct Plugin {
    entry: PluginEntry,
    info: PluginInfo,
    writer: Writer,
    writers: Writers,
    call: *const CallApi,
    report: *const ReportApi,
    output: *const OutputApi,
}

/// The text of a cell; a missing number is never written as 0.
fn value(number: &Number) -> String {
    let text = match number.kind {
        NUMBER_INT => number.i.to_string(),
        NUMBER_FLOAT => number.f.to_string(),
        NUMBER_ZERO_BY_RULE => "0".into(),
        NUMBER_NONE => return "none".into(),
        NUMBER_UNAVAILABLE => return "unavailable".into(),
        NUMBER_IN_MODULE => return "in_module".into(),
        _ => return "unknown".into(),
    };
    // The value leaves a part out.
    if number.flags & NUMBER_PARTIAL != 0 { text + " (partial)" } else { text }
}

unsafe fn totals(api: &ReportApi, report: *const c_void) -> String {
    let mut out = String::new();
    for i in 0..(api.metric_count)(report) {
        let mut info: MetricInfo = std::mem::zeroed();
        info.struct_size = size_of::<MetricInfo>() as u32;
        if (api.metric_at)(report, i, &mut info) != OK {
            continue;
        }
        let cell = (api.cell)(report, i, AXIS_MODEL, 0);
        let _ = writeln!(out, "{} {} {}", info.id.text(), value(&cell), info.unit.text());
    }
    out
}

/// Nothing may unwind into the host: a panic becomes the error text of the call.
fn guarded(call: *mut c_void, api: *const CallApi, work: impl FnOnce() -> i32) -> i32 {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        unsafe { ((*api).fail)(call, Str::new("the writer panicked")) };
        INTERNAL
    })
}

extern "C" fn write(call: *mut c_void, report: *const c_void, output: *mut c_void, user: *mut c_void) -> i32 {
    let plugin = unsafe { &*(user as *const Plugin) };
    guarded(call, plugin.call, || unsafe {
        let text = totals(&*plugin.report, report);
        ((*plugin.output).write)(output, Str { ptr: text.as_ptr(), len: text.len() })
    })
}

extern "C" fn init(_call: *mut c_void, host: *const Host, _path: Str, user: *mut c_void) -> i32 {
    let plugin = unsafe { &mut *(user as *mut Plugin) };
    let interface = |id| unsafe { ((*host).get_interface)(host, Str::new(id)) };
    plugin.call = interface("tmeter.host.call/1") as *const CallApi;
    plugin.report = interface("tmeter.host.report/1") as *const ReportApi;
    plugin.output = interface("tmeter.host.output/1") as *const OutputApi;
    if plugin.call.is_null() || plugin.report.is_null() || plugin.output.is_null() {
        return UNAVAILABLE;
    }
    OK
}

extern "C" fn deinit(user: *mut c_void) {
    drop(unsafe { Box::from_raw(user as *mut Plugin) });
}

extern "C" fn get_writer(index: u32, user: *mut c_void) -> *const Writer {
    let plugin = unsafe { &*(user as *const Plugin) };
    if index == 0 { &plugin.writer } else { null() }
}

extern "C" fn get_capability(id: Str, user: *mut c_void) -> *const c_void {
    let plugin = unsafe { &*(user as *const Plugin) };
    if unsafe { id.text() } == "tmeter.report-writer/1" {
        return &plugin.writers as *const Writers as *const c_void;
    }
    null()
}

#[no_mangle]
pub extern "C" fn tmeter_plugin_v1() -> *const PluginEntry {
    let plugin = Box::into_raw(Box::new(Plugin {
        entry: PluginEntry {
            struct_size: size_of::<PluginEntry>() as u32,
            abi_minor_required: 0,
            info: null(),
            user: std::ptr::null_mut(),
            init,
            deinit,
            get_capability,
            configure: None,
        },
        info: PluginInfo {
            struct_size: size_of::<PluginInfo>() as u32,
            reserved: 0,
            id: Str::new("com.example.rust-report"),
            name: Str::new("rust-report"),
            version: Str::new("1.0.0"),
            description: Str::new("A report writer in Rust: a line for each metric"),
            needs: Str::EMPTY,
            rights: Str::EMPTY,
        },
        writer: Writer {
            struct_size: size_of::<Writer>() as u32,
            reserved: 0,
            name: Str::new("totals"),
            extension: Str::new("totals"),
            media_type: Str::new("text/plain"),
            write,
            user: std::ptr::null_mut(),
        },
        writers: Writers {
            struct_size: size_of::<Writers>() as u32,
            count: 1,
            get: get_writer,
            user: std::ptr::null_mut(),
        },
        call: null(),
        report: null(),
        output: null(),
    }));
    unsafe {
        let user = plugin as *mut c_void;
        (*plugin).entry.info = &(*plugin).info;
        (*plugin).entry.user = user;
        (*plugin).writer.user = user;
        (*plugin).writers.user = user;
        &(*plugin).entry
    }
}
