//! Columns of tables: numbers, texts, and dictionary-encoded words.

use std::sync::Arc;

use arrow_array::types::{Int8Type, Int32Type};
use arrow_array::{
    ArrayRef, BooleanArray, DictionaryArray, Float64Array, Int8Array, Int32Array, StringArray,
    UInt32Array, UInt64Array,
};
use sojourn_aqm::{CauseClass, Stage};

/// The words for [`Stage`], [`Cause`] and [`Ecn`](sojourn_aqm::Ecn), in the order of their keys.
pub(crate) const STAGES: [&str; 3] =
    [Stage::Enqueue.word(), Stage::Queued.word(), Stage::Dequeue.word()];
pub(crate) const CAUSES: [&str; 4] = [
    CauseClass::Overflow.word(),
    CauseClass::Random.word(),
    CauseClass::Deterministic.word(),
    CauseClass::Policed.word(),
];
pub(crate) const ECNS: [&str; 4] = ["not_ect", "ect1", "ect0", "ce"];

/// Name, values, and whether values may be missing.
pub(crate) type Column = (&'static str, ArrayRef, bool);

pub(crate) fn u32s(values: impl Iterator<Item = u32>) -> ArrayRef {
    Arc::new(UInt32Array::from_iter_values(values))
}

pub(crate) fn u64s(values: impl Iterator<Item = u64>) -> ArrayRef {
    Arc::new(UInt64Array::from_iter_values(values))
}

pub(crate) fn some_u64s(values: impl Iterator<Item = Option<u64>>) -> ArrayRef {
    Arc::new(UInt64Array::from_iter(values))
}

pub(crate) fn some_i32s(values: impl Iterator<Item = Option<i32>>) -> ArrayRef {
    Arc::new(Int32Array::from_iter(values))
}

pub(crate) fn f64s(values: impl Iterator<Item = f64>) -> ArrayRef {
    Arc::new(Float64Array::from_iter_values(values))
}

pub(crate) fn bools(values: impl Iterator<Item = bool>) -> ArrayRef {
    Arc::new(values.map(Some).collect::<BooleanArray>())
}

pub(crate) fn strings<'a>(values: impl Iterator<Item = &'a str>) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(values))
}

pub(crate) fn some_strings<'a>(values: impl Iterator<Item = Option<&'a str>>) -> ArrayRef {
    Arc::new(StringArray::from_iter(values))
}

/// One word of a fixed list per row, or null.
pub(crate) fn words(keys: impl Iterator<Item = Option<i8>>, words: &[&str]) -> ArrayRef {
    let keys = Int8Array::from_iter(keys);
    let values = Arc::new(StringArray::from_iter_values(words));
    Arc::new(DictionaryArray::<Int8Type>::try_new(keys, values).expect("keys are places in words"))
}

/// One name per row, given as its index in a list that may contain duplicates.
pub(crate) fn names<N: AsRef<str>>(places: impl Iterator<Item = usize>, names: &[N]) -> ArrayRef {
    let mut distinct: Vec<&str> = Vec::new();
    let mut keys = std::collections::HashMap::new();
    let key_of: Vec<i32> = names
        .iter()
        .map(|name| {
            *keys.entry(name.as_ref()).or_insert_with(|| {
                distinct.push(name.as_ref());
                distinct.len() as i32 - 1
            })
        })
        .collect();
    let keys = Int32Array::from_iter_values(places.map(|place| key_of[place]));
    let values = Arc::new(StringArray::from_iter_values(distinct));
    Arc::new(DictionaryArray::<Int32Type>::try_new(keys, values).expect("keys are places in names"))
}
