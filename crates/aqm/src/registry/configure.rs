//! Sets the parameters that a description names, in the discipline and the law.

use alloc::format;
use alloc::vec::Vec;

use super::{QdiscSpec, dialect_of, kernels, preset};
use crate::custom::{CustomLaw, CustomParams, DIALECT};
use crate::params::{ParamSet, Params, SpecError, Unchecked, has_no_effect, set_all};

/// The parameters of discipline and law: defaults of the dialect, then of the preset, then of the
/// kernel, then the user's settings.
pub(super) fn configure<D: Params, L: Params>(spec: &QdiscSpec) -> Result<(D, L), SpecError> {
    kernels::check(spec)?;
    let mut law = law_at_first::<L>(spec)?;
    let mut discipline = Unchecked::<D>::of_dialect_or_first(dialect_of(spec));
    set_named(spec, &mut [&mut law, &mut discipline])?;
    Ok((discipline.params, law.params))
}

/// The parameters of a law in its dialect; in its default dialect if only the preset has the named
/// dialect.
fn law_at_first<L: Params>(spec: &QdiscSpec) -> Result<Unchecked<L>, SpecError> {
    let dialect = dialect_of(spec);
    let of_pair = spec.preset.and_then(preset).map_or(&[][..], |preset| preset.dialects);
    let is_of_pair = of_pair.iter().any(|known| known.name == dialect);
    let of_law = if is_of_pair { L::DIALECTS[0].name } else { dialect };
    Unchecked::of_dialect(&spec.kind(), of_law, of_pair)
}

/// Sets the parameters implied by the names of preset and kernel, then those that the user set.
fn set_named(spec: &QdiscSpec, sets: &mut [&mut dyn ParamSet]) -> Result<(), SpecError> {
    set_all(&spec.kind(), dialect_of(spec), sets, &named_defaults(spec), &spec.set_by_user())?;
    check_fixed(spec)
}

/// The settings of the preset, then those of the kernel.
fn named_defaults(spec: &QdiscSpec) -> Vec<(&'static str, &'static str)> {
    let dialect = dialect_of(spec);
    let of_pair = spec.preset.and_then(preset).into_iter();
    let of_pair = of_pair.flat_map(|preset| preset.settings_of(dialect));
    let of_kernel = kernels::settings_of(spec).map(|change| (change.name, change.value));
    of_pair.map(|setting| (setting.name, setting.value)).chain(of_kernel).collect()
}

/// Refuses to change a value that defines the preset.
fn check_fixed(spec: &QdiscSpec) -> Result<(), SpecError> {
    let Some(pair) = spec.preset.and_then(preset) else { return Ok(()) };
    let dialect = dialect_of(spec);
    for (name, text) in spec.set_by_user() {
        let mut of_pair = pair.settings_of(dialect);
        if of_pair.any(|it| it.is_fixed && it.name == name && it.value != text) {
            return Err(has_no_effect(&spec.kind(), dialect, name, text));
        }
    }
    Ok(())
}

/// The parameters of a discipline and a custom law: defaults, then the user's settings.
pub(super) fn configure_custom<D: Params>(
    spec: &QdiscSpec,
    law: &CustomLaw,
) -> Result<(D, CustomParams), SpecError> {
    let (kind, dialect) = (spec.kind(), dialect_of(spec));
    if dialect != DIALECT.name {
        let why = format!("{kind} has no dialect `{dialect}`; leave `@{dialect}` out");
        return Err(SpecError::new("dialect", why));
    }
    let (mut law, mut discipline) = (law.params(), Unchecked::<D>::of_dialect_or_first(dialect));
    let sets = &mut [&mut law as _, &mut discipline as _];
    set_all(&kind, dialect, sets, &[], &spec.set_by_user())?;
    Ok((discipline.params, law))
}
