//! Sizes of files, frames and objects.

use super::{Checked, refuse};
use crate::document::quantities::SizeText;
use crate::document::sizes::{Drawn, Sizes as WrittenSizes};
use crate::resolved::{Shape, Sizes};

/// The largest size: our choice, far within the range of segment numbers and timers.
const LARGEST: u64 = 1_000_000_000_000;

/// Checks and converts sizes.
pub(super) fn of(place: &str, written: &WrittenSizes) -> Checked<Sizes> {
    match written {
        WrittenSizes::List(sizes) => list(place, sizes),
        WrittenSizes::Drawn(drawn) => self::drawn(place, drawn),
    }
}

fn list(place: &str, sizes: &[SizeText]) -> Checked<Sizes> {
    if sizes.is_empty() {
        return refuse(place, "the list is empty; write for example [\"15kB\", \"44kB\"]");
    }
    for (index, size) in sizes.iter().enumerate() {
        in_range(&format!("{place}[{index}]"), *size)?;
    }
    Ok(Sizes::List(sizes.iter().map(|size| size.0).collect()))
}

fn in_range(place: &str, size: SizeText) -> Checked<u64> {
    match size.0 {
        0 => refuse(place, "must be positive"),
        1..=LARGEST => Ok(size.0),
        _ => refuse(place, format!("{size} is more than 1000 GB; write a smaller size")),
    }
}

fn drawn(place: &str, written: &Drawn) -> Checked<Sizes> {
    let (min, max, mean) = match written {
        Drawn::Uniform(sizes) => (sizes.min, sizes.max, None),
        Drawn::Exponential(sizes) => (sizes.min, sizes.max, Some(sizes.mean)),
        Drawn::LogNormal(sizes) => (sizes.min, sizes.max, Some(sizes.mean)),
        Drawn::Pareto(sizes) => (sizes.min, sizes.max, None),
    };
    let (min, max) =
        (in_range(&format!("{place}.min"), min)?, in_range(&format!("{place}.max"), max)?);
    if max < min {
        return refuse(
            &format!("{place}.max"),
            format!("{max} B is less than the {min} B of `min`"),
        );
    }
    if let Some(mean) = mean.filter(|mean| !(min..=max).contains(&mean.0)) {
        let message =
            format!("{mean} is not between `min` and `max`, so most draws would be outside");
        return refuse(&format!("{place}.mean"), message + "; write another mean or other limits");
    }
    let shape = match written {
        Drawn::Uniform(_) => Shape::Uniform,
        Drawn::Exponential(sizes) => Shape::Exponential(sizes.mean.0 as f64),
        Drawn::LogNormal(sizes) => {
            let deviation = in_range(&format!("{place}.deviation"), sizes.deviation)?;
            Shape::LogNormal(sizes.mean.0 as f64, deviation as f64)
        }
        Drawn::Pareto(sizes) if sizes.shape > 0.0 && sizes.shape.is_finite() => {
            Shape::Pareto(sizes.shape)
        }
        Drawn::Pareto(sizes) => {
            let message = format!("{} is not a shape; it must be positive", sizes.shape);
            return refuse(&format!("{place}.shape"), message);
        }
    };
    Ok(Sizes::Drawn { shape, min, max })
}
