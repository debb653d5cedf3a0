//! Calls from C: errors as messages, panics kept inside, texts.

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    /// The message of the function that failed last.
    static ERROR: RefCell<CString> = RefCell::default();
}

/// `text` for C, which ends at a zero byte.
pub(crate) fn c_text(text: &str) -> CString {
    CString::new(text.replace('\0', "\u{fffd}")).unwrap_or_default()
}

/// The result of `call`; `otherwise` if it fails, with its message kept for [`forebay_error`].
pub(crate) fn answer<R>(otherwise: R, call: impl FnOnce() -> Result<R, String>) -> R {
    let result = catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
        Err(format!("Forebay itself has failed: {}", text.unwrap_or("without a message")))
    });
    result.unwrap_or_else(|message| {
        ERROR.set(c_text(&message));
        otherwise
    })
}

/// The text at `pointer`, called `what` in messages.
///
/// # Safety
/// `pointer` is null, or leads to a text that ends with a zero byte and stays until the call ends.
pub(crate) unsafe fn text<'t>(pointer: *const c_char, what: &str) -> Result<&'t str, String> {
    if pointer.is_null() {
        return Err(format!("{what} is NULL; allowed is a text"));
    }
    // SAFETY: by the contract of this function.
    let text = unsafe { CStr::from_ptr(pointer) };
    text.to_str().map_err(|_| format!("{what} is not UTF-8: {}", text.to_string_lossy()))
}

#[unsafe(no_mangle)]
extern "C" fn forebay_error() -> *const c_char {
    // What is said stays where it is until another message takes its place.
    ERROR.with_borrow(|message| message.as_ptr())
}

#[unsafe(no_mangle)]
extern "C" fn forebay_version() -> *const c_char {
    const VERSION: &CStr =
        match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
            Ok(version) => version,
            Err(_) => c"",
        };
    VERSION.as_ptr()
}
