//! The parameters of a custom law, while they are being set and afterwards.

use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::declaration::About;
use super::{Maker, Value};
use crate::params::{ParamError, ParamSet, ParamSpec};

/// The values of a custom law's parameters.
#[derive(Clone)]
pub(crate) struct CustomParams {
    about: &'static About,
    maker: Arc<dyn Maker>,
    values: Vec<Value>,
}

impl CustomParams {
    pub(super) fn new(about: &'static About, maker: Arc<dyn Maker>) -> CustomParams {
        CustomParams { about, maker, values: about.defaults.to_vec() }
    }

    pub(super) fn values(&self) -> &[Value] {
        &self.values
    }

    /// Every parameter with its value as text, in the order of declaration.
    pub(crate) fn settings(&self) -> impl Iterator<Item = (&'static str, String)> {
        let pairs = self.about.specs.iter().zip(&self.values);
        pairs.map(|(spec, value)| (spec.name, value.show(spec)))
    }
}

impl ParamSet for CustomParams {
    fn specs(&self) -> &'static [ParamSpec] {
        self.about.specs
    }

    fn set(&mut self, name: &str, text: &str) -> Result<(), ParamError> {
        let found = self.about.specs.iter().position(|spec| spec.name == name);
        let index = found.ok_or(ParamError::Unknown)?;
        let value = Value::parse(&self.about.specs[index], text).map_err(ParamError::Invalid)?;
        let rule = &self.about.rules[index];
        if value.magnitude().is_some_and(|x| !(rule.holds)(x)) {
            return Err(ParamError::Invalid(format!("`{}` {}", text.trim(), rule.text)));
        }
        self.values[index] = value;
        Ok(())
    }

    fn without_effect(&self, _name: &str) -> Option<&'static str> {
        None
    }

    fn check(&self) -> Result<(), String> {
        self.maker.check(&self.values)
    }
}
