//! The declarations in the table of a library.

use std::ffi::{CStr, c_char};
use std::path::Path;

use sojourn_aqm::custom::{Declaration, ParamDeclaration, VarDeclaration};
use sojourn_aqm::params::ValueKind;

use crate::abi::RawLaw;

/// The declaration in a table.
///
/// # Safety
/// The table's texts and lists are valid.
pub(crate) unsafe fn declaration(
    table: &RawLaw,
    place: &str,
    source: &str,
    file: &Path,
) -> Result<Declaration, String> {
    let mut params = Vec::new();
    for index in 0..table.param_count as usize {
        // SAFETY: the list has that many elements.
        let param = unsafe { &*table.params.add(index) };
        // SAFETY: the caller's promise.
        let text = |text| unsafe { text_of(text) };
        let words = text(param.words)?.unwrap_or_default();
        params.push(ParamDeclaration {
            name: text(param.name)?.ok_or("a parameter has no name")?,
            doc: text(param.doc)?.unwrap_or_default(),
            kind: ValueKind::of_word(&text(param.kind)?.unwrap_or_default())?,
            absent: text(param.absent)?,
            words: words.split_whitespace().map(str::to_owned).collect(),
            rule: text(param.rule)?.unwrap_or_else(|| "any".to_owned()),
            default: text(param.default_value)?.unwrap_or_default(),
            source: text(param.source)?.unwrap_or_default(),
        });
    }
    let mut vars = Vec::new();
    for index in 0..table.var_count as usize {
        // SAFETY: the list has that many elements.
        let var = unsafe { &*table.vars.add(index) };
        // SAFETY: the caller's promise.
        let text = |text| unsafe { text_of(text) };
        vars.push(VarDeclaration {
            name: text(var.name)?.ok_or("a state variable has no name")?,
            unit: text(var.unit)?.unwrap_or_default(),
            doc: text(var.doc)?.unwrap_or_default(),
        });
    }
    // SAFETY: the caller's promise.
    let (name, doc) = unsafe { (text_of(table.name)?, text_of(table.doc)?) };
    Ok(Declaration {
        name: name.ok_or("the law has no name")?,
        doc: doc.unwrap_or_default(),
        source: source.to_owned(),
        place: place.to_owned(),
        file: file.to_str().map(str::to_owned),
        params,
        vars,
    })
}

/// A text of a table; `None` if it is null.
///
/// # Safety
/// `text` is null or ends with a zero byte.
pub(crate) unsafe fn text_of(text: *const c_char) -> Result<Option<String>, String> {
    if text.is_null() {
        return Ok(None);
    }
    // SAFETY: the caller's promise.
    let text = unsafe { CStr::from_ptr(text) }.to_str();
    text.map(|text| Some(text.to_owned())).map_err(|_| "a text is not UTF-8".to_owned())
}
